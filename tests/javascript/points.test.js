// Words at the points of a scale whose From and To change, without a page. As tests/studies/test_instrument_pages.py.
import assert from "node:assert/strict";
import { test } from "node:test";
import { moveEnds } from "../../static/quire/designer/points.js";

const WORDS = { 1: "Not at all", 3: "Somewhat", 5: "Very" };

test("words of the ends go with the ends, the others stay", () => {
  assert.deepEqual(moveEnds(WORDS, ["1", "5"], ["0", "10"]), { 0: "Not at all", 3: "Somewhat", 10: "Very" });
  assert.deepEqual(moveEnds(WORDS, ["1", "5"], ["5", "9"]), { 5: "Not at all", 3: "Somewhat", 9: "Very" });
});

test("where words stand at a new end all stay where they were written", () => {
  assert.deepEqual(moveEnds(WORDS, ["1", "5"], ["1", "3"]), WORDS);
});

test("an end without words moves nothing", () => {
  assert.deepEqual(moveEnds({ 1: "Not at all", 5: "" }, ["1", "5"], ["0", "10"]), { 0: "Not at all" });
});
