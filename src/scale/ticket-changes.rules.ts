import { type FieldChange, MAX_CHANGES } from '../contracts/admin/history.dto.js';
import { type Difference, differences } from '../contracts/common/difference.values.js';
import { formatInstant } from '../contracts/common/instant.js';
import { joinPath } from '../contracts/common/path.values.js';
import { codePoints } from '../contracts/common/text.js';
import type { CreateScaleTicketRequest, MaterialItem } from '../contracts/scale/scale.api.js';
import { maskSecrets } from '../core/observability/known-secrets.js';
import { maskJson } from '../core/observability/redaction.js';
import type { Flow, Ticket, TicketChanges } from './ticket.js';

/** Characters of one text of a change that are kept. Names and ticket numbers are not longer (decision 9). */
const MAX_SHOWN = 255;

/** What pushes change in a ticket: its contents and its flows, each from the newest push of it (decision 21). */
export type TicketForm = Pick<Ticket, 'contents' | 'flows'>;

export const NO_CHANGES: TicketChanges = { changes: [] };

type Fields = Pick<CreateScaleTicketRequest, 'materials' | 'customFields' | 'inboundFlow' | 'outboundFlow'>;

/** The fields that differ between two forms of a ticket, with both values (decision 23). */
export function changesOf(before: TicketForm, after: TicketForm): TicketChanges {
  const is = comparedFields(after);
  const all = differences(comparedFields(before), is);
  const changes = all.slice(0, MAX_CHANGES).map((each) => toChange(each, is));
  return { changes, ...(all.length > MAX_CHANGES ? { moreChanges: all.length - MAX_CHANGES } : {}) };
}

/** What a revision keeps of them. Secrets are masked before long texts are cut: a part of one is not recognised (decision 59). */
export function keptChanges(found: TicketChanges): TicketChanges {
  const { changes, ...more } = JSON.parse(maskJson(JSON.stringify(found))) as TicketChanges;
  // An absent value stays absent: JSON has no undefined.
  return {
    changes: changes.map((change) => ({ ...change, before: cut(change.before), after: cut(change.after) })),
    ...more,
  };
}

/** Lines of a first push that its text names. */
const MAX_NAMED = 3;

/** What a first push brought: `Debris 14.9 Ton, Clay 2 Cubic Yard`. */
export function amountsOf(push: TicketForm): string {
  const { materials } = comparedFields(push);
  const named = materials
    .slice(0, MAX_NAMED)
    .map((line) => `${line.name || line.id} ${line.quantity} ${line.unitOfMeasure}`);
  const more = materials.length - named.length;
  return maskSecrets(named.join(', ')) + (more > 0 ? ` and ${more} more` : '');
}

/** The fields of section 2.2 that can change. */
function comparedFields({ contents: { materials, customFields }, flows }: TicketForm): Fields {
  return {
    materials: JSON.parse(materials) as MaterialItem[],
    inboundFlow: flows.inbound && shownFlow(flows.inbound),
    outboundFlow: flows.outbound && shownFlow(flows.outbound),
    customFields: customFields === null ? undefined : (JSON.parse(customFields) as Record<string, string>),
  };
}

/** A time has its microseconds only if there are any: they decide which push is newer (decision 7). */
const shownFlow = ({ ticketNumber, updatedAt }: Flow): Flow => ({
  ticketNumber,
  updatedAt: updatedAt.endsWith('000Z') ? formatInstant(updatedAt) : updatedAt,
});

function toChange({ path, before, after }: Difference, is: Fields): FieldChange {
  const [list, place] = path;
  const line = path.length > 2 && list === 'materials' && typeof place === 'number' ? is.materials[place] : undefined;
  return {
    field: path.reduce<string>(joinPath, ''),
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    ...(line === undefined ? {} : { material: line.name, unitOfMeasure: line.unitOfMeasure }),
  };
}

/** With each long text cut; it then ends with its length. */
function cut(value: unknown): unknown {
  if (typeof value === 'string') return cutText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(cut);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, cut(member)]));
}

function cutText(text: string): string {
  const length = codePoints(text);
  return length <= MAX_SHOWN
    ? text
    : `${[...text.slice(0, 2 * MAX_SHOWN)].slice(0, MAX_SHOWN).join('')}… [${length} characters]`;
}
