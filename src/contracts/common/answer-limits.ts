/** How much of a partner's answer the platform reads, and how long it waits. The conformance kit reads as much. */

/** Default of `PARTNER_BODY_LIMIT`: an answer whose records are read as they arrive. */
export const MAX_LIST_BYTES = 268_435_456;

/** An answer that is read as a whole, such as an acknowledgement: to parse 4 MiB takes about 20 ms. */
export const MAX_WHOLE_BYTES = 4_194_304;

/** One record of a list, and the answer without its records: each is parsed in one call of `JSON.parse`. */
export const MAX_RECORD_BYTES = 1_048_576;

/** Default of `PARTNER_ANSWER_TIMEOUT`. */
export const ANSWER_TIMEOUT_MS = 60_000;

/** For the status line and the headers of an answer (decision 64): CDNs and sign-on gateways send more than Node's 16 KB. */
export const MAX_HEAD_BYTES = 65_536;

/** Characters of an id of a partner (decision 38): of a recording, a request, a truck, a camera, a customer. */
export const MAX_PARTNER_ID = 4_000;
