/** The media types of a whole list, beside its pages of JSON. */
export const CSV_TYPE = 'text/csv';
/** One element a line, as the pages have it. */
export const NDJSON_TYPE = 'application/x-ndjson';
