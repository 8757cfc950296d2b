"""Who of the staff gets which page of the admin about the rows of a table; `test_matrix` holds the site to it."""

# D designer, C coordinator, R researcher, S steward, A administrator. Nobody else gets past the door. Whoever has the
# list may open a row and its history; to save it takes a letter under "change". Rows of a planned study do not change,
# so the row that is asked for is one of a draft.
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
