// How long saving waits, in milliseconds.

/** Between the last stroke and its save. */
export const AUTOSAVE_DELAY = 800;
/** Between a stroke and its save, however steadily somebody types. */
export const LONGEST_AUTOSAVE_DELAY = 4000;
/** How long a save may take. */
export const REQUEST_TIMEOUT = 15_000;
export const LONGEST_RETRY_DELAY = 30_000;
/** When a save that failed is tried again, for the first, second, third … time. */
export const RETRY_DELAYS = [2000, 4000, 8000, 15_000, LONGEST_RETRY_DELAY];
/** How long leaving the page waits for a save. */
export const DEPARTURE_LIMIT = 8000;
