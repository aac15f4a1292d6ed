/**
 * The Markdown above each document: what a reader must know beside the shapes. The facts are those of
 * `docs/decisions.md`; change both together.
 */

const KEY = `
### Authentication

Send the hauler's key once, in \`PLATFORM-API-KEY\`. A key that is missing, unknown, repeated, expired, revoked or issued
for another interface gets 401, and the response says nothing about the rest of the request. After a rotation the old key
works for one day from the first use of the new key, unless the operator chose another time.`;

const retries = (refused: string, reused: number) => `
### Retries

| response | meaning | what to do |
| --- | --- | --- |
| 200 | stored and durable | nothing |
| ${refused} | nothing was stored, and the same request fails again | correct the request |
| 408, 429, 503 | temporary | send the same request again, after \`Retry-After\` seconds if the header is present |
| 500, or no response | unknown | send the same request again, with the same \`Idempotency-Key\` |

\`Idempotency-Key\` holds 1 to 255 visible ASCII characters of your choice; use a new one for each new request. The service
executes a request with a key once. For 24 hours a repeat gets the first response, with \`Idempotency-Replayed: true\`. The
body of a repeat must be identical, byte for byte: with the same key any other body gets ${reused}.`;

const FORMATS = `
### Text, numbers and time

- Text is UTF-8 without U+0000. The service ignores unknown fields. \`null\` in an optional field means absent.
- A UUID may have either case; responses use lower case. A number is a JSON number, not a string.
- A time is RFC 3339 with an offset, such as \`2026-01-31T08:30:00-06:00\`; responses use UTC.
- A body of more than 1 MiB gets 413, unless the operator chose another limit.`;

const errors = (status: string, path: string) => `
### Errors

Every failure has the same body: \`error.code\` is one of a closed set, \`error.message\` is a sentence for people. On
${status} \`error.details.violations\` lists every violation with its \`path\`, such as \`${path}\`. Every response has
\`X-Request-Id\`: quote it when you ask for help, or send your own.`;

const hosting = (prefix: string) => `
### If you host this interface

- Give the platform the address before \`${prefix}\` and a key. The address must be public and use \`https\`. The platform
  does not follow redirects.
- Each call has \`API-KEY\` and \`Accept: application/json\`, and accepts gzip. Send the whole response within 60 seconds and
  in at most 256 MiB, unless the operator chose other limits.
- Return 401 only for a wrong key: the platform then tries the next key that it has, which makes a rotation possible.
- The platform repeats a \`GET\` after 429, 502, 503, 504 or a failed connection, up to three attempts in all. After other
  failures it waits for the next scheduled call. It honours a \`Retry-After\` of up to five minutes.
- One malformed record does not affect the others: the platform reports it to its admin and stores the rest.`;

const sandbox = (scope: string) => `
### Sandbox

This service hosts the reference partner, a complete implementation of this interface. Call it to see valid responses. A
key may be limited to ${scope}; requests outside of that get 404.`;

const guide = (...sections: readonly string[]) => sections.map((section) => section.trim()).join('\n\n');

const SCALE = guide(
  `Push scale tickets into the platform. Send a ticket whenever your system creates or updates it, in any order and any
number of times.`,
  `### Identity of a ticket

Site, direction (inbound or outbound) and ticket number identify a ticket. A push whose flow matches a stored ticket
updates it and returns the same \`disposalTicketId\`; any other push creates a ticket. The newest \`updatedAt\` wins, once for
materials and custom fields together, and once for each flow. The header \`Ticket-Result\` reports the result:

| \`Ticket-Result\` | meaning |
| --- | --- |
| \`created\` | a new ticket |
| \`updated\` | the ticket has the materials and custom fields of this push |
| \`stale\` | the ticket keeps those of a newer push, whose time \`Ticket-Version\` says; this push is in the history |
| \`unchanged\` | the push equals the stored ticket; nothing was written |

A push without a flow always creates a ticket: send an \`Idempotency-Key\` with it. Use your own ids of sites and
materials, as your Site interface lists them. Inactive ones are accepted, unknown ones get 422. A push that names
an unknown one makes the platform read your Site interface again: send the ticket again in a minute, with another
\`Idempotency-Key\`.`,
  KEY,
  retries('400, 401, 413, 415, 422', 422),
  FORMATS,
  errors('400 and 422', 'materials[2].quantity'),
);

const ACCOUNT = guide(
  `Create customer accounts in the platform. Store the \`accountId\` and \`accountNumber\` of the response: they identify the
account.`,
  `### Unique names

Names are compared without case, leading and trailing blanks, and repeated blanks. If the hauler has an account with this
name, the response is 409 with the \`accountId\` and \`accountNumber\` of that account in \`error.details\`. A repeat therefore
recovers the ids of a lost response.`,
  KEY,
  retries('400, 401, 409, 413, 415', 409),
  FORMATS,
  errors('400', 'billingAddress.zip'),
);

const SITE = guide(
  `A partner hosts this interface so that the platform can synchronise a hauler's disposal sites, kiosks and materials.`,
  hosting('/scale-platform/v1'),
  `### How the platform uses your response

- It calls every 15 minutes by default. It sends no \`If-None-Match\`: send the whole list each time.
- List all active records in each response. The platform deactivates a record that is absent, and never deletes it. If all
  records of a kind are absent, or more than a fifth and more than five of them, an admin must confirm that first.
- An omitted array states nothing; an empty array states that no record exists. 404 changes nothing.
- Keep \`updatedAt\` accurate: the platform does not apply a record that is older than the stored one.
- Every material names a site, a kiosk, or both. The platform skips a material with an unknown parent. If an id occurs
  twice, the first record counts.`,
  sandbox('one hauler'),
  errors('400', 'haulerId'),
);

const VISION = guide(
  `A partner hosts this interface so that the platform can request truck-camera clips and download continuous recordings.`,
  hosting('/video-platform/v1'),
  `### Clips

- The platform requests a clip once. After a lost response or a 5xx it tries again, up to three times in all. A 202 may
  have status \`ready\` or \`failed\` at once. Any 4xx except 401 and 429 ends the request.
- It then polls the list: first after 5 seconds, with growing intervals up to one minute, after an hour every five minutes,
  for at most a day. One call may cover all open requests of a customer.
- Put the \`requestId\` on every clip. In a list by \`requestId\`, add \`data.request\` with \`status\` and \`message\`: without it
  a failed request and a running one have the same empty list.`,
  `### Continuous recordings

- The platform reads windows of up to one day that end a minute ago, all pages, every five minutes by default. It reads
  the last 15 minutes again each time, 6 hours every hour, 3 days every day and 14 days every week, to find recordings that
  you add late.
- It identifies a recording by its \`id\`, or by truck, camera and range. A list contains the recordings that overlap the
  half-open range from \`startTime\` to \`endTime\`.`,
  `### Download links

The platform downloads by \`GET\` without a key, earliest \`expiresAt\` first, and follows up to three redirects. With
\`Content-Length\`, \`ETag\` and \`Range\` it resumes an interrupted download. If a link has expired or returns 400, 401, 403,
404 or 410, or the file is no whole MP4 yet, it lists again, and tries again after 1 second to 15 minutes for up to seven
days, as long as you list the recording. It waits after 202, 409, 423, 425, 429, 5xx and any \`Retry-After\`, and up to two
minutes for the first byte.`,
  sandbox('one customer'),
  `${errors('400', 'startTime')} The list of continuous recordings has no \`details\`: its message names the fields.`,
);

const ADMIN = guide(
  `Administration of haulers, API keys and connections to partners, and of the tickets, accounts, sites and recordings that
the service stores.`,
  `### First steps

1. \`POST /admin/v1/haulers\`, then an API key for the partner that pushes the hauler's tickets and accounts.
2. \`POST /admin/v1/connections\` for each partner interface that the platform calls, then its \`check\`.
3. For video a request (one clip) or a subscription (all recordings of a truck). \`coverage\` shows what is missing, and why.`,
  `### Lists

\`page\` and \`pageSize\` (20 by default, at most 100) select a page of a list; \`pagination\` has the totals. \`from\` and
\`to\` bound the time of creation: of tickets the time received, of recordings the start. A \`siteId\` is always the
partner's id.`,
  errors('400', 'interfaces[1]'),
);

const PARTNER = `
Routes for a partner with its own API key, in \`PLATFORM-API-KEY\` or in \`API-KEY\`, whichever interface the key opens.

### Find the result of a push

\`GET /partner/v1/exchanges?reference=ticketNumber:IN-204817\` lists every call with this key that named the ticket number, newest
first: status, result, and the reason of a refusal. \`GET /partner/v1/exchanges/{id}\` shows one of them in full, with an explanation. Secrets are
\`[redacted]\`. Exchanges are written a moment after the response, and kept for some days.`;

/** By the name of the contract. */
export const GUIDES = {
  scale: SCALE,
  account: ACCOUNT,
  site: SITE,
  vision: VISION,
  partner: PARTNER,
  admin: ADMIN,
} as const;
