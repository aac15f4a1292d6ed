import { isDeepStrictEqual } from 'node:util';
import type { CreateScaleTicketRequest, TicketResult } from '../contracts/scale/scale.dto.js';
import { shortText } from './ticket-amounts.rules.js';
import { customFieldPhrases, flowPhrases, materialPhrases, materialText } from './ticket-difference.rules.js';
import { DIRECTIONS, type Direction, type Flow, type Flows } from './ticket.js';
import { newest } from './ticket.rules.js';

/** Further changes of one push are counted. */
const MAX_PHRASES = 5;

/** Further materials of a new ticket are counted. */
const MAX_MATERIALS = 3;

type Contents = Pick<CreateScaleTicketRequest, 'materials' | 'customFields'>;

/** What a ticket is between two pushes: its contents and its flows, each from the newest push of it (decision 21). */
export interface InForce {
  readonly contents: Contents;
  readonly flows: Flows;
}

export interface StoryStep {
  /** What is in force after the push. */
  readonly after: InForce;
  /** The fields of the ticket that the push changed; empty for the first push. */
  readonly changes: readonly string[];
  readonly sentence: string;
}

/** What a stored push did to what was in force when it arrived. `before` is undefined for the push that created the ticket. */
export function storyStep(
  before: InForce | undefined,
  push: CreateScaleTicketRequest,
  result: TicketResult,
): StoryStep {
  const { materials, customFields, inboundFlow, outboundFlow } = push;
  const pushed: InForce = {
    contents: { materials, customFields },
    flows: { inbound: inboundFlow, outbound: outboundFlow },
  };
  if (before === undefined) return { after: pushed, changes: [], sentence: creation(pushed) };
  const after: InForce = {
    contents: result === 'stale' ? before.contents : pushed.contents,
    flows: {
      inbound: newest(before.flows.inbound, inboundFlow),
      outbound: newest(before.flows.outbound, outboundFlow),
    },
  };
  const sentence = result === 'stale' ? staleSentence(before, after) : updateSentence(before, after, pushed.flows);
  return { after, changes: changesOf(before, after), sentence };
}

function changesOf(before: InForce, after: InForce): string[] {
  const [one, other] = [before, after].map(({ contents: { materials, customFields }, flows }) => {
    return { customFields, inboundFlow: flows.inbound, materials, outboundFlow: flows.outbound };
  });
  const names = ['customFields', 'inboundFlow', 'materials', 'outboundFlow'] as const;
  return names.filter((name) => !isDeepStrictEqual(one?.[name], other?.[name]));
}

function creation({ contents: { materials }, flows }: InForce): string {
  const shown = materials.slice(0, MAX_MATERIALS).map(materialText);
  const more = materials.length - shown.length;
  const lines = [...shown, ...(more > 0 ? [`${more} more ${more === 1 ? 'material' : 'materials'}`] : [])];
  const named = flowNames(flows);
  return `Created with ${listed(lines)}${named.length === 0 ? ', without a ticket number' : `; ${listed(named)}`}`;
}

function staleSentence(before: InForce, after: InForce): string {
  const flows = flowChanges(before.flows, after.flows);
  const newer = flows.length > 0 ? flows : newerTimes(before.flows, after.flows);
  return newer.length === 0
    ? 'Older than what is stored: nothing changed'
    : `Older than what is stored, contents unchanged; only ${listed(newer)}`;
}

function updateSentence(before: InForce, after: InForce, pushed: Flows): string {
  const { contents: was, flows } = before;
  const phrases = [
    ...materialPhrases(was.materials, after.contents.materials),
    ...flowChanges(flows, after.flows),
    ...customFieldPhrases(was.customFields, after.contents.customFields),
    ...ignoredFlows(after.flows, pushed),
  ];
  if (phrases.length > 0) return sentenceOf(phrases);
  const newer = newerTimes(flows, after.flows);
  return newer.length === 0
    ? 'Sent again without a difference'
    : sentenceOf([`${listed(newer)}; the contents are the same`]);
}

function flowChanges(before: Flows, after: Flows): string[] {
  return DIRECTIONS.flatMap((direction) => flowPhrases(direction, before[direction], after[direction]));
}

/** Flows whose time alone is newer. */
function newerTimes(before: Flows, after: Flows): string[] {
  const isNewer = (direction: Direction) => before[direction]?.updatedAt !== after[direction]?.updatedAt;
  return DIRECTIONS.filter(isNewer).map((direction) => `newer time of ${flowName(direction, after[direction])}`);
}

/** Flows of a push that are older than those in force. */
function ignoredFlows(after: Flows, pushed: Flows): string[] {
  return DIRECTIONS.flatMap((direction) => {
    const [flow, kept] = [pushed[direction], after[direction]];
    if (flow === undefined || isDeepStrictEqual(flow, kept)) return [];
    return [`older ${flowName(direction, flow)} ignored`];
  });
}

const flowNames = (flows: Flows): string[] =>
  DIRECTIONS.flatMap((direction) => (flows[direction] === undefined ? [] : [flowName(direction, flows[direction])]));

const flowName = (direction: Direction, flow: Flow | undefined): string =>
  `${direction} flow ${shortText(flow?.ticketNumber ?? '')}`;

function sentenceOf(phrases: readonly string[]): string {
  const shown = phrases.slice(0, MAX_PHRASES);
  const more = phrases.length - shown.length;
  const text = [...shown, ...(more > 0 ? [`and ${more} more ${more === 1 ? 'change' : 'changes'}`] : [])].join(', ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** `a`, `a and b`, `a, b and c` */
function listed(texts: readonly string[]): string {
  return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} and ${texts.at(-1)}`;
}
