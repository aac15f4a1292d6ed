import { instantOf } from '../../src/contracts/common/instant.js';
import { TICKET_RESULTS } from '../../src/contracts/scale/scale.api.js';
import { uuidv7 } from '../../src/core/database/uuid.js';
import { applyPush } from '../../src/scale/ticket.rules.js';
import { NO_ORIGIN, type Push, type Ticket } from '../../src/scale/ticket.js';
import { RUN_STATES, type RunStatus } from '../../src/site-sync/sync/sync-runs.repository.js';
import { REQUEST_STATES, type RequestState } from '../../src/vision/clips/clip-requests.rules.js';
import { RECORDING_STATES, type RecordingState } from '../../src/vision/recordings/recording.rules.js';
import type { States } from '../../src/core/work/states.js';
import { entityDiagram, GROUPS, readColumns } from './entity-diagram.js';
import { generatedBlocks, table } from './generated-blocks.js';
import type { Generator } from './generator.js';

const CLIP: Readonly<Record<RequestState, string>> = {
  submitting: 'the request is being sent to the partner',
  processing: 'the partner looks for the footage; the platform polls',
  ready: 'the partner has listed the clip; its file waits for a place',
  downloading: 'the file is being fetched',
  stored: 'the file is in the storage of the platform',
  failed: 'the partner or the download gave up; the reason is kept. An admin may try again',
  expired: 'the deadline passed, the link expired, or retention deleted the file',
};
const RECORDING: Readonly<Record<RecordingState, string>> = {
  available: 'the partner lists it; its file is not stored yet',
  stored: 'its file is in the storage of the platform',
  expired: 'the file could not be fetched before the link or the partner gave it up, or retention deleted it',
  failed: 'the tries ended with a reason. A new listing or an admin revives it',
};
const RUN: Readonly<Record<RunStatus, string>> = {
  queued: 'it waits for an instance',
  running: 'an instance reads the answer of the partner',
  held: 'the answer would remove many records: an admin confirms or rejects (decision 35)',
  rejected: 'an admin discarded the held removals',
  succeeded: 'the answer is applied',
  failed: 'the partner did not answer, or not with the contract',
  no_data: 'the partner answered 404: it has no records of the hauler',
};

const fenced = (lines: readonly string[]) => ['```mermaid', ...lines, '```'].join('\n');

function stateDiagram<State extends string>(states: States<State>, meanings: Readonly<Record<State, string>>): string {
  const reached = new Set(states.all.flatMap((from) => states.all.filter((to) => states.canTransition(from, to))));
  const first = states.all.filter((state) => !reached.has(state) || state === states.all[0]);
  const edges = states.all.flatMap((from) => [
    ...states.all.filter((to) => states.canTransition(from, to)).map((to) => `  ${from} --> ${to}`),
    ...(states.isFinal(from) ? [`  ${from} --> [*]`] : []),
  ]);
  const lines = ['stateDiagram-v2', ...first.map((state) => `  [*] --> ${state}`), ...edges];
  const rows = states.all.map((state) => [`\`${state}\``, meanings[state]]);
  return `${fenced(lines)}\n\n${table(['state', 'meaning'], rows)}`;
}

/** A push of the flow IN-1 with this time and quantity. */
function push(updatedAt: string, quantity: number): Push {
  return {
    id: uuidv7(),
    haulerId: uuidv7(),
    siteId: uuidv7(),
    materialIds: [],
    receivedAt: instant('2026-01-31T12:00:00Z'),
    flows: { inbound: { ticketNumber: 'IN-1', updatedAt: instant(updatedAt) } },
    contents: { materials: JSON.stringify([{ quantity }]), customFields: null },
    body: '{}',
    origin: NO_ORIGIN,
  };
}

const instant = (text: string) => instantOf(new Date(text));

function ticketDiagram(): string {
  const first = push('2026-01-31T08:30:00Z', 14.9);
  const apply = (stored: Ticket | undefined, next: Push) => {
    const applied = applyPush({ inbound: stored }, next);
    if ('conflict' in applied) throw new Error('one flow cannot belong to two tickets');
    return applied;
  };
  const stored = apply(undefined, first).ticket;
  const cases = [
    ['a newer push', push('2026-01-31T09:41:00Z', 12.48)],
    ['an older push, kept in the history', push('2026-01-31T07:00:00Z', 9)],
    ['the same push again', first],
  ] as const;
  const results = [apply(undefined, first), ...cases.map(([, next]) => apply(stored, next))].map(
    ({ result }) => result,
  );
  const undrawn = TICKET_RESULTS.filter((result) => !results.includes(result));
  if (undrawn.length > 0) throw new Error(`no push of the diagram is ${undrawn.join(', ')}`);
  return fenced([
    'stateDiagram-v2',
    `  [*] --> stored: ${results[0]} (the first push of its flows)`,
    ...cases.map(([what], i) => `  stored --> stored: ${results[i + 1]} (${what})`),
  ]);
}

const STATES: Readonly<Record<string, () => string>> = {
  clip: () => stateDiagram(REQUEST_STATES, CLIP),
  recording: () => stateDiagram(RECORDING_STATES, RECORDING),
  run: () => stateDiagram(RUN_STATES, RUN),
};

const PAGE = 'docs/diagrams.md';

/** The states of the code and the tables of the database. */
export const diagrams: Generator = async (database) => {
  const columns = await readColumns(await database.database());
  const drawn = Object.values(GROUPS).flat();
  const missing = new Set(columns.map(({ table: name }) => name).filter((name) => !drawn.includes(name)));
  if (missing.size > 0)
    throw new Error(`no group of scripts/generate/entity-diagram.ts has ${[...missing].join(', ')}`);
  const blocks: Readonly<Record<string, (name: string) => string>> = {
    ticket: ticketDiagram,
    states: (name) => STATES[name]?.() ?? '',
    tables: (name) => fenced(entityDiagram(columns, GROUPS[name] ?? [])),
  };
  const required = [
    'ticket',
    ...Object.keys(STATES).map((name) => `states ${name}`),
    ...Object.keys(GROUPS).map((name) => `tables ${name}`),
  ];
  return { [PAGE]: generatedBlocks(PAGE, required, (kind = '', name = '') => blocks[kind]?.(name) ?? '') };
};
