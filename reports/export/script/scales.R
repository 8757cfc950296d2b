# Scales: a linear model with crossed effects of rater and story, item by item.
#
#     Rscript script/scales.R        from the folder of the package
#
# Expects R 4 with the packages lme4 and jsonlite. Reads responses_long.csv and codebook.json. The report's own
# section on what varies is of linear models, by the analysis of variance; this is the same
# model by restricted maximum likelihood, so that variances may differ a little, and agree where nothing is missing.

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
is_scale <- function(item) item$level %in% c("ordinal", "interval") && !item$is_verdict && item$is_about_a_story
is_meant <- sapply(items, is_scale)
keys <- sapply(items, function(item) paste(item$step, item$item, sep = "/"))[is_meant]
answers <- answers[answers$key %in% keys, ]
if (nrow(answers) == 0) {
  cat("The study has no items on scales.\n")
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

for (key in keys) {
  of_item <- answers[answers$key == key, ]
  if (nrow(of_item) == 0) next
  cat("\n==", key, "==\n")
  print_fit(lmer(analysed ~ 1 + (1 | rater) + (1 | story), data = of_item))
  if (has_sources) {
    print_fit(lmer(analysed ~ source + (1 | rater) + (1 | rater:source) + (1 | story), data = of_item))
  }
}
