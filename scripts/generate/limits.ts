import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { VARIABLES } from '../../src/core/config/variables.js';
import { MAX_RECORD_BYTES, MAX_WHOLE_BYTES } from '../../src/contracts/common/answer-limits.js';
import { MAX_JSON_DEPTH } from '../../src/contracts/common/json.js';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../src/contracts/common/pagination.dto.js';
import { MAX_HOURS_AHEAD } from '../../src/contracts/scale/scale.api.js';
import { LAST_ROW } from '../../src/core/database/list-page.js';
import { SERVER_LIMITS } from '../../src/core/http/http-server.js';
import { KEPT_FOR } from '../../src/core/idempotency/idempotency.repository.js';
import { INTERVALS } from '../../src/partner-client/connection.rules.js';
import { MAX_ATTEMPTS, MAX_RETRY_AFTER_MS } from '../../src/partner-client/partner-failure.js';
import { MAX_SUBMITS } from '../../src/vision/clips/clip-requests.rules.js';
import type { Generator } from './generator.js';

const DOCUMENTS = join(import.meta.dirname, '../../docs/openapi');

interface Schema {
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly properties: Readonly<Record<string, Schema>>;
  readonly additionalProperties: Schema;
}

const schemas = (name: string) =>
  (
    JSON.parse(readFileSync(join(DOCUMENTS, `${name}.json`), 'utf8')) as {
      components: { schemas: Record<string, Schema> };
    }
  ).components.schemas;
const of = (name: string, schema: string, ...path: string[]): Schema => {
  const found = path.reduce<Schema | undefined>((at, each) => at?.properties[each], schemas(name)[schema]);
  if (found === undefined) throw new Error(`${name}.json has no ${schema} ${path.join('.')}`);
  return found;
};

const number = (value: number) => value.toLocaleString('en-US');
const mebibytes = (bytes: number) => `${number(bytes / 1_048_576)} MiB`;
const lengths = ({ minLength = 0, maxLength }: Schema) => `${minLength} to ${number(maxLength ?? NaN)} characters`;

function period(milliseconds: number): string {
  const units = [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1_000, 's'],
  ] as const;
  // A day is written as 24 h.
  const [size, name] = units.find(([each]) => milliseconds % each === 0 && milliseconds > each) ?? [1_000, 's'];
  return `${milliseconds / size} ${name}`;
}

const BODY = mebibytes(VARIABLES.HTTP_BODY_LIMIT.fallback);
const ANSWER = mebibytes(VARIABLES.PARTNER_BODY_LIMIT.fallback);
const ANSWER_TIME = period(VARIABLES.PARTNER_ANSWER_TIMEOUT.fallback * 1).replace('1 min', '60 s');
const CONNECT_TIME = period(VARIABLES.PARTNER_CONNECT_TIMEOUT.fallback);
const RETRY_AFTER = period(MAX_RETRY_AFTER_MS);
const KEPT = KEPT_FOR.replace(' hours', ' h');
const CLIP = `${VARIABLES.VISION_MAX_CLIP_MINUTES.fallback} min`;

type Row = readonly [limit: string, value: string, setting?: keyof typeof VARIABLES];

/** What a partner sends. */
const sent = (): readonly Row[] => [
  ['JSON body', BODY, 'HTTP_BODY_LIMIT'],
  ['nesting of JSON', `${MAX_JSON_DEPTH} levels`],
  ['time for the headers; for a JSON body', `${period(SERVER_LIMITS.headers)}; ${period(SERVER_LIMITS.jsonBody)}`],
  ['requests of a key in a minute, counted by each instance', 'no limit', 'RATE_LIMIT_PER_MINUTE'],
  [
    'materials of a ticket',
    `${of('scale', 'CreateScaleTicketRequest', 'materials').minItems} to ${number(of('scale', 'CreateScaleTicketRequest', 'materials').maxItems ?? NaN)}`,
  ],
  ['name of a material', lengths(of('scale', 'MaterialItem', 'name'))],
  ['ticket number', lengths(of('scale', 'FlowData', 'ticketNumber'))],
  ['custom fields of a ticket', number(of('scale', 'CreateScaleTicketRequest', 'customFields').maxProperties ?? NaN)],
  ['value of a custom field', lengths(of('scale', 'CreateScaleTicketRequest', 'customFields').additionalProperties)],
  ['`updatedAt` ahead of the clock of the platform', `${MAX_HOURS_AHEAD} h`],
  ['`accountName`', lengths(of('account', 'CreateAccountRequest', 'accountName'))],
  ['`Idempotency-Key`', '1 to 255 visible ASCII characters'],
  ['time for which an `Idempotency-Key` is kept', KEPT],
  ['`pageSize`', `${DEFAULT_PAGE_SIZE}, at most ${MAX_PAGE_SIZE}`],
  ['rows that `page` reaches; `cursor` goes on', number(LAST_ROW)],
];

/** What the platform waits for and takes when it calls a partner. */
const HOSTED: readonly Row[] = [
  ['time to connect', CONNECT_TIME, 'PARTNER_CONNECT_TIMEOUT'],
  ['time for a whole answer', ANSWER_TIME, 'PARTNER_ANSWER_TIMEOUT'],
  ['size of an answer with a list', ANSWER, 'PARTNER_BODY_LIMIT'],
  ['size of an answer without a list; of one record', `${mebibytes(MAX_WHOLE_BYTES)}; ${mebibytes(MAX_RECORD_BYTES)}`],
  ['attempts of a `GET`', String(MAX_ATTEMPTS)],
  ['attempts of the `POST` for a clip', String(MAX_SUBMITS)],
  ['`Retry-After` that a call waits for', RETRY_AFTER],
  ['interval of synchronisations', period(INTERVALS.site.standard * 1_000)],
  ['interval of reading continuous recordings', period(INTERVALS.vision.standard * 1_000)],
  ['how far back recordings are read again / how often', VARIABLES.VISION_REREAD.shownDefault, 'VISION_REREAD'],
  ['time for a clip from its request', VARIABLES.VISION_REQUEST_DEADLINE.shownDefault, 'VISION_REQUEST_DEADLINE'],
  ['length of one clip', CLIP, 'VISION_MAX_CLIP_MINUTES'],
  ['time for the first byte of a file', VARIABLES.VISION_FIRST_BYTE_TIMEOUT.shownDefault, 'VISION_FIRST_BYTE_TIMEOUT'],
  [
    'time in which a recording must become available',
    VARIABLES.VISION_DOWNLOAD_DEADLINE.shownDefault,
    'VISION_DOWNLOAD_DEADLINE',
  ],
  [
    'files fetched at once from one connection; received at once by an instance',
    `${VARIABLES.DOWNLOAD_CONCURRENCY_PER_CONNECTION.fallback}; ${VARIABLES.DOWNLOAD_CONCURRENCY.fallback}`,
    'DOWNLOAD_CONCURRENCY',
  ],
  ['life of a link of the partner side of haulbridge', VARIABLES.VISION_LINK_TTL.shownDefault, 'VISION_LINK_TTL'],
];

const table = (rows: readonly Row[]) =>
  [
    '| limit | value | setting |',
    '| --- | --- | --- |',
    ...rows.map(
      ([limit, value, setting]) => `| ${limit} | ${value} | ${setting === undefined ? '' : `\`${setting}\``} |`,
    ),
  ].join('\n');

const limitsPage = () => `# Limits

<!-- Generated from the code: \`npm run generate -- limits\` writes it. -->

Values are the defaults. Where a setting is named, the operator of the service may have chosen another value. What protects a service from its
callers is in the [operator guide](guides/operator.md#limits).

## If you call the platform

${table(sent())}

## If you host Site or Vision

${table(HOSTED)}
`;

/** The page of the limits that a partner meets. */
export const limits: Generator = () => {
  const page = limitsPage();
  if (/NaN|undefined/.test(page)) throw new Error('a limit of docs/limits.md has no value');
  return { 'docs/limits.md': page };
};
