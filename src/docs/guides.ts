/**
 * What a reader has to know beside the shapes: shown above each document, as Markdown. The facts are those of
 * `decisions.md`; whoever changes one of them changes it here too.
 */

const KEY = `
### The key

Send the hauler's key in \`PLATFORM-API-KEY\`, once. Whatever is wrong with it (missing, unknown, sent twice, expired,
revoked, issued for another interface), the answer is 401, and nothing is said about the rest of the request. A rotated
key goes on working for a day after the first use of its successor, unless the operator chose another time.`;

const sendingAgain = (refused: string) => `
### Sending again

| answer | what it means | what to do |
| --- | --- | --- |
| 200 | stored, and safe on disk | nothing |
| ${refused} | nothing was stored, and the same request fails again | correct it first |
| 408, 429, 503 | not now | send the same again, after \`Retry-After\` seconds where they are given |
| 500, or no answer | unknown | send the same again, with the same \`Idempotency-Key\` |

With \`Idempotency-Key\` (1 to 255 visible ASCII characters of your choice, others for each new request) a request is done once,
and its repeats within 24 hours get the first answer with \`Idempotency-Replayed: true\`. Their bodies must be the same, byte
for byte.`;

const FORMS = `
### Text, numbers and time

- Text is UTF-8 without U+0000. Fields that are not named here are accepted and ignored; \`null\` for an optional field is
  as if it were absent.
- A uuid may be in either case, and is answered in lower case. A number is a JSON number, never a text.
- Times are RFC 3339 with an offset, as in \`2026-01-31T08:30:00-06:00\`, and are answered in UTC.
- A body of more than 1 MiB is refused with 413, unless the operator chose another limit.`;

const errors = (status: string, path: string) => `
### Errors

Every failure has the same body: \`error.code\` is of a closed set, \`error.message\` is a sentence for people. On
${status} \`error.details.violations\` lists all faults at once, each with its \`path\`, as in \`${path}\`. Every answer carries
\`X-Request-Id\`: quote it when you ask for help, or send one of your own.`;

const hosting = (prefix: string, most: string) => `
### If you host this interface

- The platform is given the address before \`${prefix}\` and a key of yours. The address is public and \`https\`;
  redirects are not followed.
- Each call carries \`API-KEY\` and \`Accept: application/json\`; gzip is welcome. The whole answer has to be there within 60
  seconds, in no more than ${most}, unless the operator chose other limits.
- Answer 401 for the key alone: the platform then tries the next one it was given, which is how a key is rotated.
- After 429, 502, 503, 504 or a connection that fails a \`GET\` is made again, three times in all; after what else goes wrong
  at the next look. A \`Retry-After\` of up to five minutes is waited for.
- One malformed record is set aside, and shown to the platform's admin; the others are taken.`;

const sandbox = (scope: string) => `
### The sandbox

What answers here is the reference partner, a whole implementation of this interface: call it to see what your own answers
may look like. A key may be limited to ${scope}; what is outside is 404.`;

const guide = (...sections: readonly string[]) => sections.map((section) => section.trim()).join('\n\n');

const SCALE = guide(
  `Push scale tickets into the platform. Send a ticket whenever it is created or updated in your system, in any order and as
often as you like.`,
  `### What makes a ticket

A ticket is known by its site, its direction (inbound or outbound) and its ticket number. A push with a flow of a stored
ticket updates that ticket, and is answered with the same \`disposalTicketId\`; any other creates one. The newest
\`updatedAt\` wins: for materials and custom fields, which are replaced together, and for each flow by itself. The header
\`Ticket-Result\` tells what came of it:

| \`Ticket-Result\` | meaning |
| --- | --- |
| \`created\` | a new ticket |
| \`updated\` | materials and custom fields are those of this push now |
| \`stale\` | those of a newer push stay; this one is kept in the history |
| \`unchanged\` | the same as what is stored; nothing was written |

A push without any flow cannot be recognised again and always makes a new ticket: send an \`Idempotency-Key\` with it.
Sites and materials are named by your own ids, as your Site interface tells them. Inactive ones are accepted, unknown
ones are 422. What you have just added there is known when the platform has asked again, within 15 minutes by default:
send the ticket again then, with another \`Idempotency-Key\`.`,
  KEY,
  sendingAgain('400, 401, 413, 415, 422'),
  FORMS,
  errors('400 and 422', 'materials[2].quantity'),
);

const ACCOUNT = guide(
  `Create customer accounts in the platform. Keep the \`accountId\` and \`accountNumber\` of the answer: they name the account
from then on.`,
  `### One account for a name

Names are compared without regard to case, to blanks at their ends, and to how many blanks stand between words. Where the
hauler has an account of that name already, the answer is 409, with \`accountId\` and \`accountNumber\` of that account in
\`error.details\`: so the ids of an answer that was lost are found again.`,
  KEY,
  sendingAgain('400, 401, 409, 413, 415'),
  FORMS,
  errors('400', 'billingAddress.zip'),
);

const SITE = guide(
  `A partner hosts this interface so that the platform can synchronise a hauler's disposal sites, kiosks and materials.`,
  hosting('/scale-platform/v1', '256 MB'),
  `### What the platform makes of your answer

- It asks every 15 minutes by default. Where you send an \`ETag\`, it comes back as \`If-None-Match\`, and 304 is understood.
- List all active records each time. One that is missing becomes inactive, and is never deleted. Where all of a kind is
  missing, or more than a fifth of it and more than five records, an admin has to confirm that first.
- An array that is left out states nothing; an empty one says that there are none. 404 changes nothing.
- Keep \`updatedAt\` true: a record that is older than the stored one is not applied.
- Every material names a site, a kiosk, or both; what hangs on an unknown one is set aside. Of an id that comes twice the
  first counts.`,
  sandbox('one hauler'),
  errors('400', 'haulerId'),
);

const VISION = guide(
  `A partner hosts this interface so that the platform can ask for truck-camera clips and fetch continuous recordings.`,
  hosting('/video-platform/v1', '4 MB'),
  `### Clips

- A clip is asked for once, and again only where the answer was lost or a 5xx, three times in all. A 202 may say \`ready\` or
  \`failed\` at once. Any other 4xx than 401 and 429 ends the request.
- Then the list is read: first after 5 seconds, less and less often up to once a minute, every five minutes when an hour
  has passed, and for a day at most. One call may read for all open requests of a customer.
- Put its \`requestId\` on every clip. Where a list was asked for by \`requestId\`, add \`data.request\` with \`status\` and
  \`message\`: a list of prepared clips is as empty for a request that failed as for one under way.`,
  `### Continuous recordings

- They are read in windows of up to a day that end a minute ago, every five minutes by default, all pages; and the last six
  hours again, so that what you add late is found.
- A chunk is recognised by its \`id\`, or by truck, camera and range. A list has what overlaps the half-open range from
  \`startTime\` to \`endTime\`.`,
  `### Links

A file is fetched by \`GET\` without any key, the earliest \`expiresAt\` first; up to three redirects are followed. With
\`Content-Length\`, \`ETag\` and \`Range\` an interrupted download goes on where it ended. A link that has expired, or is
answered with 401, 403, 404 or 410, is replaced by listing again, five times at most.`,
  sandbox('one customer'),
  `${errors('400', 'startTime')} The list of continuous recordings has no \`details\`: there the message names the fields.`,
);

const ADMIN = guide(
  `Administration of haulers and their keys, of the connections to partners, and of all that was pushed, synchronised and
recorded.`,
  `### How to begin

1. \`POST /admin/v1/haulers\`, and an API key for the partner that pushes the hauler's tickets and accounts.
2. \`POST /admin/v1/connections\` for each partner interface that the platform is to call, then its \`check\`.
3. For video a request (one clip) or a subscription (all that a truck records); \`coverage\` tells what is missing, and why.`,
  `### Lists

\`page\` and \`pageSize\` (20 by default, 100 at most) bring a part of a list; its \`pagination\` tells how many there are.
\`from\` and \`to\` bound the time of creation, of tickets when they were received, of recordings when they start. A \`siteId\` is
always the partner's.`,
  errors('400', 'interfaces[1]'),
);

/** By the name of the contract. */
export const GUIDES = { scale: SCALE, account: ACCOUNT, site: SITE, vision: VISION, admin: ADMIN } as const;

/** What the operations of the admin API are about, in the order in which an admin meets them: name and description. */
export const ADMIN_SUBJECTS: ReadonlyMap<string, string> = new Map([
  ['haulers', 'Tenants of the platform: each has its own keys, tickets, accounts and connections'],
  ['api-keys', 'Keys with which partners call this service: issued, rotated without an outage, revoked'],
  ['tickets', 'Disposal tickets as partners have pushed them, and every push that was kept'],
  ['accounts', 'Customer accounts that partners have created'],
  ['connections', "A hauler's links to the Site and Vision interfaces of partners: address, key, schedule"],
  ['sync-runs', 'What each synchronisation of a Site connection did, set aside, or holds until it is confirmed'],
  ['sites', 'Disposal sites as partners have told of them'],
  ['kiosks', 'Stations within sites'],
  ['materials', 'What is taken at a site or kiosk'],
  ['video-requests', 'Clips that were asked for, and how far each is'],
  ['video-subscriptions', 'Trucks whose continuous recordings are followed'],
  ['recordings', 'Films, fetched or still to be fetched, and their bytes'],
  ['coverage', 'What there is of a truck, moment by moment, and why the rest is missing'],
  ['vision-findings', "What was wrong in partners' video lists"],
  ['hosted', 'Data of the partner side: what the reference partner answers with'],
]);
