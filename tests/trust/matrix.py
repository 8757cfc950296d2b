"""What everybody is answered at every address. `test_matrix` holds the site to it; an address without a row fails."""

# Who of the staff gets which page about the rows of a table: D designer, C coordinator, R researcher, S steward,
# A administrator. Nobody else gets past the door. Whoever has the list may open a row and its history; to save it takes a letter under "change". Rows of a planned study do not change, so the row that is asked for is one of a draft.
ADMIN = """
model                               list add change delete history
studies.cloze                       DCR  D   D      D      DCR
studies.source                      DR   D   D      D      DR
studies.provenance                  DR   D   D      D      DR
studies.story                       DCR  D   D      D      DCR
studies.storygroup                  DCR  D   D      D      DCR
studies.instrument                  DCR  D   D      D      DCR
studies.protocolversion             DCR  –   D      –      DCR
annotation.rater                    CRS  –   –      –      CRS
annotation.identity                 S    S   S      S      S
annotation.seat                     DCR  –   –      –      DCR
annotation.assignment               DCR  –   –      –      DCR
annotation.response                 CR   –   –      –      CR
annotation.responseevent            CR   –   –      –      CR
annotation.consent                  CRS  –   –      –      CRS
annotation.withdrawal               CRS  –   –      –      CRS
annotation.fill                     R    –   R      –      R
annotation.invitation               DCR  –   –      –      DCR
studies.study                       DCR  D   D      D      DCR
judges.endpoint                     DRA  A   A      A      DRA
judges.price                        DRA  A   A      A      DRA
judges.prompt                       DCR  DR  DR     DR     DCR
judges.judge                        DCR  DR  DR     DR     DCR
judges.run                          DCR  –   DR     –      DCR
auth.user                           A    A   A      A      A
auth.group                          A    –   –      –      A
django_celery_beat.periodictask     A    A   A      A      A
django_celery_beat.clockedschedule  A    A   A      A      A
django_celery_beat.crontabschedule  A    A   A      A      A
django_celery_beat.solarschedule    A    A   A      A      A
django_celery_beat.intervalschedule A    A   A      A      A
"""

# Every other page. The owner is the rater to whom the address belongs; the other is a rater of the same study. HEAD is answered as GET unless it has a line of its own.
# ok: a page; away: another page is where you belong; login: to the door of the staff; or the status of a refusal.
PAGES = """
page                                method anon  owner other helper design coord resear steward admin
admin:index                         GET    login login login away   away   away  away   away    away
admin:index                         POST   login login login away   away   away  away   away    away
admin:records                       GET    login login login ok     ok     ok    ok     ok      ok
admin:records                       POST   login login login ok     ok     ok    ok     ok      ok
admin:login                         GET    ok    ok    ok    away   away   away  away   away    away
admin:login                         HEAD   ok    ok    ok    ok     ok     ok    ok     ok      ok
admin:login                         POST   ok    ok    ok    ok     ok     ok    ok     ok      ok
admin:logout                        GET    away  away  away  405    405    405   405    405     405
admin:logout                        POST   away  away  away  login  login  login login  login   login
admin:password_change               GET    login login login ok     ok     ok    ok     ok      ok
admin:password_change               POST   login login login ok     ok     ok    ok     ok      ok
admin:password_change_done          GET    login login login ok     ok     ok    ok     ok      ok
admin:password_change_done          POST   login login login 405    405    405   405    405     405
admin:autocomplete                  GET    login login login 403    403    403   403    403     403
admin:autocomplete                  POST   login login login 405    405    405   405    405     405
admin:jsi18n                        GET    login login login ok     ok     ok    ok     ok      ok
admin:jsi18n                        POST   login login login 405    405    405   405    405     405
admin:view_on_site                  GET    login login login 404    404    404   404    404     404
admin:view_on_site                  POST   login login login 404    404    404   404    404     404
admin:studies_cloze_picture         GET    login login login 405    405    405   405    405     405
admin:studies_cloze_picture         POST   login login login 403    ok     403   403    403     403
admin:studies_provenance_formatting GET    login login login 403    ok     403   ok     403     403
admin:studies_provenance_formatting POST   login login login 403    away   403   403    403     403
admin:annotation_invitation_issue   GET    login login login 403    403    ok    403    403     403
admin:annotation_invitation_issue   POST   login login login 403    403    ok    403    403     403
admin:studies_study_action          GET    login login login 403    ok     403   403    403     403
admin:studies_study_action          POST   login login login 403    away   403   403    403     403
admin:auth_user_password_change     GET    login login login 403    403    403   403    403     ok
admin:auth_user_password_change     POST   login login login 403    403    403   403    403     ok
admin:app_list                      GET    login login login 404    ok     ok    ok     404     404
admin:app_list                      POST   login login login 404    ok     ok    ok     404     404
admin/(?P<url>.*)$                  GET    login login login 404    404    404   404    404     404
admin/(?P<url>.*)$                  POST   login login login 404    404    404   404    404     404
judges:runs                         GET    login login login 403    ok     ok    ok     403     403
judges:runs                         POST   405   405   405   405    405    405   405    405     405
judges:new_run                      GET    login login login 403    ok     403   ok     403     403
judges:new_run                      POST   login login login 403    400    403   400    403     403
judges:new_prompt_choice            GET    login login login 403    ok     403   ok     403     403
judges:new_prompt_choice            POST   login login login 403    400    403   400    403     403
judges:prompt_choice                GET    login login login 403    ok     ok    ok     403     403
judges:prompt_choice                POST   login login login 403    400    403   400    403     403
judges:releases                     GET    login login login 403    ok     403   403    403     403
judges:releases                     POST   login login login 403    400    403   403    403     403
judges:generations                  GET    login login login 403    ok     403   ok     403     403
judges:generations                  POST   405   405   405   405    405    405   405    405     405
judges:new_generation               GET    login login login 403    ok     403   403    403     403
judges:new_generation               POST   login login login 403    409    403   403    403     403
judges:generation                   GET    login login login 403    ok     403   ok     403     403
judges:generation                   POST   login login login 403    400    403   403    403     403
judges:run                          GET    login login login 403    ok     ok    ok     403     403
judges:run                          POST   405   405   405   405    405    405   405    405     405
judges:calls                        GET    login login login 403    ok     ok    ok     403     403
judges:calls                        POST   405   405   405   405    405    405   405    405     405
judges:call                         GET    login login login 403    ok     ok    ok     403     403
judges:call                         POST   405   405   405   405    405    405   405    405     405
judges:act                          GET    405   405   405   405    405    405   405    405     405
judges:act                          POST   login login login 403    away   403   away   403     403
judges:judges                       GET    login login login 403    ok     ok    ok     403     403
judges:judges                       POST   405   405   405   405    405    405   405    405     405
judges:new_judge                    GET    login login login 403    ok     403   ok     403     403
judges:new_judge                    POST   login login login 403    400    403   400    403     403
judges:new_panel                    GET    login login login 403    ok     403   ok     403     403
judges:new_panel                    POST   login login login 403    400    403   400    403     403
judges:add_metric                   GET    405   405   405   405    405    405   405    405     405
judges:add_metric                   POST   login login login 403    away   403   away   403     403
judges:preference_models            GET    login login login 403    ok     ok    ok     403     403
judges:preference_models            POST   login login login 403    400    403   400    403     403
judges:judge                        GET    login login login 403    ok     ok    ok     403     403
judges:judge                        POST   login login login 403    409    403   409    403     403
judges:measures                     GET    login login login 403    ok     403   ok     403     403
judges:measures                     POST   login login login 403    400    403   400    403     403
judges:scores                       GET    login login login 403    403    403   ok     403     403
judges:scores                       POST   login login login 403    403    403   400    403     403
judges:score_upload                 GET    login login login 403    403    403   404    403     403
judges:score_upload                 POST   login login login 403    403    403   404    403     403
judges:prompts                      GET    login login login 403    ok     ok    ok     403     403
judges:prompts                      POST   405   405   405   405    405    405   405    405     405
judges:new_prompt                   GET    login login login 403    ok     403   ok     403     403
judges:new_prompt                   POST   login login login 403    400    403   400    403     403
judges:prompt                       GET    login login login 403    ok     ok    ok     403     403
judges:prompt                       POST   login login login 403    400    403   400    403     403
instruments:shelf                   GET    login login login 403    ok     ok    ok     403     403
instruments:shelf                   POST   405   405   405   405    405    405   405    405     405
instruments:new                     GET    login login login 403    ok     403   403    403     403
instruments:new                     POST   login login login 403    400    403   403    403     403
instruments:show                    GET    login login login 403    ok     ok    ok     403     403
instruments:show                    POST   login login login 403    away   403   403    403     403
instruments:new_question            GET    405   405   405   405    405    405   405    405     405
instruments:new_question            POST   login login login 403    409    403   403    403     403
instruments:question                GET    405   405   405   405    405    405   405    405     405
instruments:question                POST   login login login 403    409    403   403    403     403
instruments:preview                 GET    405   405   405   405    405    405   405    405     405
instruments:preview                 POST   login login login 403    ok     403   403    403     403
instruments:publish                 GET    login login login 403    away   403   403    403     403
instruments:publish                 POST   login login login 403    away   403   403    403     403
instruments:copy                    GET    login login login 403    ok     403   403    403     403
instruments:copy                    POST   login login login 403    400    403   403    403     403
instruments:delete                  GET    405   405   405   405    405    405   405    405     405
instruments:delete                  POST   login login login 403    away   403   403    403     403
instruments:export                  GET    login login login 403    ok     ok    ok     403     403
instruments:export                  POST   405   405   405   405    405    405   405    405     405
endpoints:index                     GET    login login login 403    ok     403   ok     403     ok
endpoints:index                     POST   405   405   405   405    405    405   405    405     405
endpoints:new                       GET    login login login 403    403    403   403    403     ok
endpoints:new                       POST   login login login 403    403    403   403    403     400
endpoints:show                      GET    login login login 403    ok     403   ok     403     ok
endpoints:show                      POST   login login login 403    403    403   403    403     400
endpoints:test                      GET    405   405   405   405    405    405   405    405     405
endpoints:test                      POST   login login login 403    403    403   403    403     away
reports:index                       GET    login login login 403    ok     ok    ok     403     403
reports:index                       POST   405   405   405   405    405    405   405    405     405
reports:schedule                    GET    login login login 403    403    403   403    403     ok
reports:schedule                    POST   login login login 403    403    403   403    403     404
studies:index                       GET    login login login ok     ok     ok    ok     ok      ok
studies:index                       POST   405   405   405   405    405    405   405    405     405
studies:new                         GET    login login login 403    ok     403   403    403     403
studies:new                         POST   login login login 403    400    403   403    403     403
studies:delete                      GET    login login login 403    ok     403   403    403     403
studies:delete                      POST   login login login 403    away   403   403    403     403
studies:overview                    GET    login login login 403    ok     ok    ok     403     403
studies:overview                    POST   405   405   405   405    405    405   405    405     405
studies:members                     GET    login login login 403    ok     ok    ok     403     ok
studies:members                     POST   login login login 403    403    403   403    403     400
designer:steps                      GET    login login login 403    ok     ok    ok     403     403
designer:steps                      POST   405   405   405   405    405    405   405    405     405
designer:step                       GET    login login login 403    ok     ok    ok     403     403
designer:step                       POST   login login login 403    400    403   403    403     403
designer:new_step                   GET    login login login 403    ok     ok    ok     403     403
designer:new_step                   POST   login login login 403    400    403   403    403     403
designer:step_preview               GET    login login login 403    ok     ok    ok     403     403
designer:step_preview               POST   login login login 403    ok     403   403    403     403
designer:rater_information          GET    login login login 403    ok     ok    ok     403     403
designer:rater_information          POST   login login login 403    400    403   403    403     403
designer:arrival_preview            GET    login login login 403    ok     ok    ok     403     403
designer:arrival_preview            POST   405   405   405   405    405    405   405    405     405
studies:stories                     GET    login login login 403    ok     ok    ok     403     403
studies:stories                     POST   login login login 403    away   403   403    403     403
studies:story                       GET    login login login 403    ok     ok    ok     403     403
studies:story                       POST   login login login 403    400    403   403    403     403
studies:new_story_import            GET    login login login 403    ok     403   403    403     403
studies:new_story_import            POST   login login login 403    away   403   403    403     403
studies:story_import                GET    login login login 403    404    403   403    403     403
studies:story_import                POST   login login login 403    404    403   403    403     403
studies:story_sources               GET    login login login 403    ok     403   ok     403     403
studies:story_sources               POST   login login login 403    away   403   403    403     403
studies:subset                      GET    login login login 403    ok     403   403    403     403
studies:subset                      POST   login login login 403    400    403   403    403     403
studies:analysis_plan               GET    login login login 403    ok     403   ok     403     403
studies:analysis_plan               POST   login login login 403    400    403   403    403     403
studies:file                        GET    login login login 403    ok     403   ok     403     403
studies:file                        POST   405   405   405   405    405    405   405    405     405
studies:preregistration             GET    login login login 403    ok     403   ok     403     403
studies:preregistration             POST   405   405   405   405    405    405   405    405     405
designer:people                     GET    login login login 403    ok     ok    ok     403     403
designer:people                     POST   login login login 403    403    away  403    403     403
designer:add_people                 GET    login login login 403    403    ok    403    403     403
designer:add_people                 POST   login login login 403    403    409   403    403     403
designer:letters                    GET    login login login 403    ok     ok    ok     403     403
designer:letters                    POST   login login login 403    403    400   403    403     403
designer:answer_imports             GET    login login login 403    403    403   ok     403     403
designer:answer_imports             POST   login login login 403    403    403   400    403     403
designer:answer_import              GET    login login login 403    403    403   404    403     403
designer:answer_import              POST   login login login 403    403    403   404    403     403
designer:answer_mapping             GET    login login login 403    403    403   404    403     403
designer:answer_mapping             POST   405   405   405   405    405    405   405    405     405
designer:person                     GET    login login login 403    ok     ok    ok     403     403
designer:person                     POST   login login login 403    403    away  403    403     403
designer:withdrawal                 GET    login login login 403    403    403   403    ok      403
designer:withdrawal                 POST   login login login 403    403    403   403    400     403
designer:addresses                  GET    login login login 403    403    403   403    ok      403
designer:addresses                  POST   405   405   405   405    405    405   405    405     405
designer:address                    GET    login login login 403    403    403   403    ok      403
designer:address                    POST   login login login 403    403    403   403    away    403
designer:prolific                   GET    login login login 403    ok     ok    ok     403     403
designer:prolific                   POST   login login login 403    403    away  403    403     403
designer:applications               GET    login login login 403    ok     ok    ok     403     403
designer:applications               POST   login login login 403    403    400   403    403     403
designer:application                GET    login login login 403    ok     ok    ok     403     403
designer:application                POST   login login login 403    403    400   403    403     403
designer:applicants                 GET    login login login 403    403    403   403    ok      403
designer:applicants                 POST   405   405   405   405    405    405   405    405     405
designer:payments                   GET    login login login 403    403    403   403    ok      403
designer:payments                   POST   login login login 403    403    403   403    400     403
designer:ledger_file                GET    login login login 403    403    403   403    ok      403
designer:ledger_file                POST   405   405   405   405    405    405   405    405     405
designer:prolific_file              GET    login login login 403    403    403   403    ok      403
designer:prolific_file              POST   405   405   405   405    405    405   405    405     405
designer:account                    GET    login login login 403    403    403   403    ok      403
designer:account                    POST   login login login 403    403    403   403    400     403
designer:monitor                    GET    login login login 403    ok     ok    ok     403     403
designer:monitor                    POST   login login login 403    409    403   403    403     403
designer:place                      GET    login login login 403    ok     ok    ok     403     403
designer:place                      POST   login login login 403    403    400   403    403     403
designer:reading_plan               GET    login login login 403    ok     ok    ok     403     403
designer:reading_plan               POST   login login login 403    400    403   403    403     403
designer:rehearsal                  GET    login login login 403    ok     403   403    403     403
designer:rehearsal                  POST   login login login 403    away   403   403    403     403
designer:launch                     GET    login login login 403    ok     ok    ok     403     403
designer:launch                     POST   login login login 403    409    403   403    403     403
designer:protocol_text              GET    login login login 403    ok     ok    ok     403     403
designer:protocol_text              POST   405   405   405   405    405    405   405    405     405
reports:rehearsal                   GET    login login login 403    404    403   403    403     403
reports:rehearsal                   POST   405   405   405   405    405    405   405    405     405
reports:simulation                  GET    login login login 403    ok     403   403    403     403
reports:simulation                  POST   login login login 403    409    403   403    403     403
designer:changes                    GET    login login login 403    ok     ok    ok     403     403
designer:changes                    POST   login login login 403    away   403   403    403     403
reports:exports                     GET    login login login 403    ok     ok    ok     403     403
reports:exports                     POST   login login login 403    403    away  400    403     403
reports:package                     GET    login login login 403    403    404   ok     403     403
reports:package                     POST   405   405   405   405    405    405   405    405     405
reports:show                        GET    login login login 403    ok     ok    ok     403     403
reports:show                        POST   405   405   405   405    405    405   405    405     405
reports:compute_anew                GET    405   405   405   405    405    405   405    405     405
reports:compute_anew                POST   login login login 403    away   away  away   403     403
reports:rationales                  GET    login login login 403    403    ok    ok     403     403
reports:rationales                  POST   405   405   405   405    405    405   405    405     405
reports:rationales_of_story         GET    login login login 403    403    ok    ok     403     403
reports:rationales_of_story         POST   405   405   405   405    405    405   405    405     405
reports:rationales_of_group         GET    login login login 403    403    ok    ok     403     403
reports:rationales_of_group         POST   405   405   405   405    405    405   405    405     405
reports:rationale                   GET    login login login 403    403    away  away   403     403
reports:rationale                   POST   405   405   405   405    405    405   405    405     405
reports:filled_section              GET    login login login 403    403    404   404    403     403
reports:filled_section              POST   405   405   405   405    405    405   405    405     405
reports:themes                      GET    login login login 403    403    ok    ok     403     403
reports:themes                      POST   login login login 403    403    400   400    403     403
reports:theme_sample                GET    login login login 403    403    ok    ok     403     403
reports:theme_sample                POST   login login login 403    403    400   400    403     403
reports:theme_reasons               GET    login login login 403    403    ok    ok     403     403
reports:theme_reasons               POST   405   405   405   405    405    405   405    405     405
reports:code_reason                 GET    login login login 403    403    ok    ok     403     403
reports:code_reason                 POST   login login login 403    403    away  away   403     403
reports:replications                GET    login login login 403    403    403   ok     403     403
reports:replications                POST   405   405   405   405    405    405   405    405     405
reports:replication                 GET    login login login 403    403    403   ok     403     403
reports:replication                 POST   405   405   405   405    405    405   405    405     405
reports:methods                     GET    login login login 403    ok     ok    ok     403     403
reports:methods                     POST   405   405   405   405    405    405   405    405     405
reports:methods_paragraph           GET    login login login 403    ok     ok    ok     403     403
reports:methods_paragraph           POST   405   405   405   405    405    405   405    405     405
reports:methods_document            GET    login login login 403    ok     ok    ok     403     403
reports:methods_document            POST   405   405   405   405    405    405   405    405     405
reports:plot_svg                    GET    login login login 403    ok     ok    ok     403     403
reports:plot_svg                    POST   405   405   405   405    405    405   405    405     405
reports:plot_png                    GET    login login login 403    ok     ok    ok     403     403
reports:plot_png                    POST   405   405   405   405    405    405   405    405     405
reports:table_tex                   GET    login login login 403    ok     ok    ok     403     403
reports:table_tex                   POST   405   405   405   405    405    405   405    405     405
reports:stored                      GET    login login login 403    404    404   ok     403     403
reports:stored                      POST   login login login 403    404    404   away  403     403
reports:stored_svg                  GET    login login login 403    ok     ok    ok     403     403
reports:stored_svg                  POST   405   405   405   405    405    405   405    405     405
reports:stored_png                  GET    login login login 403    ok     ok    ok     403     403
reports:stored_png                  POST   405   405   405   405    405    405   405    405     405
reports:stored_table                GET    login login login 403    404    404   ok     403     403
reports:stored_table                POST   405   405   405   405    405    405   405    405     405
reports:responses_long              GET    login login login 403    403    ok    ok     403     403
reports:responses_long              POST   405   405   405   405    405    405   405    405     405
reports:responses_for_spreadsheets  GET    login login login 403    403    ok    ok     403     403
reports:responses_for_spreadsheets  POST   405   405   405   405    405    405   405    405     405
reports:codebook                    GET    login login login 403    ok     ok    ok     403     403
reports:codebook                    POST   405   405   405   405    405    405   405    405     405
reports:table                       GET    login login login 403    ok     ok    ok     403     403
reports:table                       POST   405   405   405   405    405    405   405    405     405
api:schema                          GET    401   401   401   ok     ok     ok    ok     ok      ok
api:schema                          POST   401   401   401   405    405    405   405    405     405
api:tokens                          GET    login login login 403    ok     ok    ok     403     403
api:tokens                          POST   login login login 403    400    400   400    403     403
api:studies                         GET    401   401   401   403    ok     ok    ok     403     403
api:studies                         POST   401   401   401   405    405    405   405    405     405
api:study                           GET    401   401   401   403    ok     ok    ok     403     403
api:study                           POST   401   401   401   405    405    405   405    405     405
api:progress                        GET    401   401   401   403    ok     ok    ok     403     403
api:progress                        POST   401   401   401   405    405    405   405    405     405
api:amendments                      GET    401   401   401   403    ok     ok    ok     403     403
api:amendments                      POST   401   401   401   405    405    405   405    405     405
api:responses                       GET    401   401   401   403    403    ok    ok     403     403
api:responses                       POST   401   401   401   405    405    405   405    405     405
api:rationales                      GET    401   401   401   403    403    ok    ok     403     403
api:rationales                      POST   401   401   401   405    405    405   405    405     405
api:report                          GET    401   401   401   403    ok     ok    ok     403     403
api:report                          POST   401   401   401   405    405    405   405    405     405
api:packages                        GET    401   401   401   403    403    ok    ok     403     403
api:packages                        POST   401   401   401   405    405    405   405    405     405
api:package                         GET    401   401   401   403    403    404   ok     403     403
api:package                         POST   401   401   401   405    405    405   405    405     405
annotation:home                     GET    ok    away  away  ok     ok     ok    ok     ok      ok
annotation:home                     POST   405   405   405   405    405    405   405    405     405
annotation:invitation               GET    ok    ok    ok    ok     ok     ok    ok     ok      ok
annotation:invitation               POST   away  away  away  away   away   away  away   away    away
annotation:prolific                 GET    400   400   400   400    400    400   400    400     400
annotation:prolific                 POST   400   400   400   400    400    400   400    400     400
annotation:application              GET    ok    ok    ok    ok     ok     ok    ok     ok      ok
annotation:application              POST   400   400   400   400    400    400   400    400     400
annotation:applied                  GET    ok    ok    ok    ok     ok     ok    ok     ok      ok
annotation:applied                  POST   405   405   405   405    405    405   405    405     405
annotation:not_eligible             GET    ok    ok    ok    ok     ok     ok    ok     ok      ok
annotation:not_eligible             POST   405   405   405   405    405    405   405    405     405
annotation:stop_prolific            GET    away  405   405   away   away   away  away   away    away
annotation:stop_prolific            POST   401   away  away  401    401    401   401    401     401
annotation:ended                    GET    away  away  away  away   away   away  away   away    away
annotation:ended                    POST   405   405   405   405    405    405   405    405     405
annotation:time_over                GET    away  away  away  away   away   away  away   away    away
annotation:time_over                POST   401   405   405   401    401    401   401    401     401
annotation:again                    GET    ok    ok    ok    ok     ok     ok    ok     ok      ok
annotation:again                    POST   405   405   405   405    405    405   405    405     405
annotation:reading                  GET    405   405   405   405    405    405   405    405     405
annotation:reading                  POST   away  away  away  away   away   away  away   away    away
annotation:consent                  GET    away  away  away  away   away   away  away   away    away
annotation:consent                  POST   401   away  away  401    401    401   401    401     401
annotation:consent_copy             GET    away  ok    ok    away   away   away  away   away    away
annotation:consent_copy             POST   401   405   405   401    401    401   401    401     401
annotation:briefing                 GET    away  away  away  away   away   away  away   away    away
annotation:briefing                 POST   401   away  away  401    401    401   401    401     401
annotation:once                     GET    away  away  away  away   away   away  away   away    away
annotation:once                     POST   401   away  away  401    401    401   401    401     401
annotation:begin                    GET    away  away  away  away   away   away  away   away    away
annotation:begin                    POST   401   away  away  401    401    401   401    401     401
annotation:closed                   GET    away  away  away  away   away   away  away   away    away
annotation:closed                   POST   401   405   405   401    401    401   401    401     401
annotation:done                     GET    away  away  away  away   away   away  away   away    away
annotation:done                     POST   401   away  away  401    401    401   401    401     401
annotation:withdraw                 GET    away  ok    ok    away   away   away  away   away    away
annotation:withdraw                 POST   401   away  away  401    401    401   401    401     401
annotation:withdrawn                GET    away  away  away  away   away   away  away   away    away
annotation:withdrawn                POST   405   405   405   405    405    405   405    405     405
annotation:assignment               GET    away  away  404   away   away   away  away   away    away
annotation:assignment               POST   401   405   404   401    401    401   401    401     401
annotation:check                    GET    away  ok    404   away   away   away  away   away    away
annotation:check                    POST   401   400   404   401    401    401   401    401     401
annotation:timing                   GET    away  405   404   away   away   away  away   away    away
annotation:timing                   POST   401   404   404   401    401    401   401    401     401
annotation:overview                 GET    away  ok    404   away   away   away  away   away    away
annotation:overview                 POST   401   405   404   401    401    401   401    401     401
annotation:rest                     GET    away  405   404   away   away   away  away   away    away
annotation:rest                     POST   401   away  404   401    401    401   401    401     401
annotation:receipt                  GET    away  away  404   away   away   away  away   away    away
annotation:receipt                  POST   401   405   404   401    401    401   401    401     401
annotation:stopped                  GET    away  away  404   away   away   away  away   away    away
annotation:stopped                  POST   401   405   404   401    401    401   401    401     401
annotation:stop                     GET    away  405   404   away   away   away  away   away    away
annotation:stop                     POST   401   404   404   401    401    401   401    401     401
annotation:recognition              GET    away  away  404   away   away   away  away   away    away
annotation:recognition              POST   401   away  404   401    401    401   401    401     401
annotation:story                    GET    away  ok    404   away   away   away  away   away    away
annotation:story                    POST   401   405   404   401    401    401   401    401     401
annotation:position                 GET    away  405   404   away   away   away  away   away    away
annotation:position                 POST   401   404   404   401    401    401   401    401     401
annotation:recognised               GET    away  405   404   away   away   away  away   away    away
annotation:recognised               POST   401   away  404   401    401    401   401    401     401
annotation:part                     GET    away  away  404   away   away   away  away   away    away
annotation:part                     POST   401   409   404   401    401    401   401    401     401
annotation:item                     GET    away  away  404   away   away   away  away   away    away
annotation:item                     POST   401   409   404   401    401    401   401    401     401
annotation:story_item               GET    away  ok    404   away   away   away  away   away    away
annotation:story_item               POST   401   away  404   401    401    401   401    401     401
"""
