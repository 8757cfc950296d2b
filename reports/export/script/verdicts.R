# Verdicts: a logistic model with crossed effects of rater, story and item.
#
#     Rscript script/verdicts.R        from the folder of the package
#
# Expects R 4 with the packages lme4 and jsonlite. Reads responses_long.csv and codebook.json. The report's own
# section on what varies is of linear models, by the analysis of variance; verdicts are Yes or No,
# which this model takes as they are: its effects are on the scale of log odds.

library(jsonlite)
library(lme4)

needed <- c("rater", "rater_kind", "story", "step", "item", "outcome", "status", "analysed")
answers <- read.csv("responses_long.csv", na.strings = "", encoding = "UTF-8", stringsAsFactors = FALSE)
stopifnot(all(needed %in% names(answers)))
items <- read_json("codebook.json")$items

# What results count: people's answers that were submitted, as one number each, about a story.
answers <- answers[answers$rater_kind == "person" & answers$status == "submitted" & answers$outcome == "answered" &
                     !is.na(answers$story) & !is.na(answers$analysed), ]
answers$key <- paste(answers$step, answers$item, sep = "/")
is_meant <- sapply(items, function(item) isTRUE(item$is_verdict) && item$is_about_a_story)
keys <- sapply(items, function(item) paste(item$step, item$item, sep = "/"))[is_meant]
answers <- answers[answers$key %in% keys, ]
if (nrow(answers) == 0) {
  cat("The study has no verdicts about stories.\n")
  quit(status = 0)
}

# A blind package has no column of sources: then the mean of all stories is estimated.
has_sources <- "source" %in% names(answers) && length(unique(na.omit(answers$source))) > 1

# Few answers can be too few for a model: then it is said, and the others are fitted all the same. An argument is not
# computed before it is used, so that what fails fails in here.
print_fit <- function(model) {
  fit <- tryCatch(model, error = function(e) cat("Cannot be fitted:", conditionMessage(e), "\n"))
  if (!is.null(fit)) print(summary(fit))
}

of_items <- if (length(unique(answers$key)) > 1) "+ (1 | key)" else ""
control <- glmerControl(optimizer = "bobyqa")
whole <- as.formula(paste("analysed ~ 1 + (1 | rater) + (1 | story)", of_items))
print_fit(glmer(whole, data = answers, family = binomial, control = control))
if (has_sources) {
  by_source <- as.formula(paste("analysed ~ source + (1 | rater) + (1 | rater:source) + (1 | story)", of_items))
  print_fit(glmer(by_source, data = answers, family = binomial, control = control))
}
