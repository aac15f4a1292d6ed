import type { CreateScaleTicketRequest, MaterialItem } from '../contracts/scale/scale.dto.js';
import { type Instant, instantOf } from '../contracts/common/instant.js';
import { timeOfUuidv7, uuidv7 } from '../database/uuid.js';
import type { Push } from './ticket.js';

/** The normalised form of a request that was received just now; `body` is what was sent. */
export function pushOf(request: CreateScaleTicketRequest, haulerId: string, body: string): Push {
  const id = uuidv7();
  return {
    id,
    haulerId,
    siteId: request.siteId,
    receivedAt: receivedAt(id),
    flows: { inbound: request.inboundFlow, outbound: request.outboundFlow },
    contents: {
      materials: `[${request.materials.map(materialText).join(',')}]`,
      customFields: request.customFields === undefined ? null : mapText(request.customFields),
    },
    body,
  };
}

let lastTime = 0;
let lastInstant = '';

/** The time in the ticket's id, as many pushes of a millisecond share it. */
function receivedAt(id: string): Instant {
  const time = timeOfUuidv7(id);
  if (time !== lastTime) {
    lastTime = time;
    lastInstant = instantOf(new Date(time));
  }
  return lastInstant;
}

/** Fields in the order of section 2.2; one that is absent stays absent. */
function materialText({ id, name, quantity, unitPriceCents, unitOfMeasure }: MaterialItem): string {
  const price = unitPriceCents === undefined ? '' : `,"unitPriceCents":${numberText(unitPriceCents)}`;
  return `{"id":"${id}","name":${JSON.stringify(name)},"quantity":${numberText(quantity)}${price},"unitOfMeasure":"${unitOfMeasure}"}`;
}

/** The shortest text that reads as the very same double (decision 25); JSON.stringify would lose the sign of -0. */
function numberText(number: number): string {
  return Object.is(number, -0) ? '-0' : String(number);
}

/** The order of a map's entries means nothing: sorted, equal maps are equal text. Any name is data, `__proto__` too. */
function mapText(map: Record<string, string>): string {
  const names = Object.keys(map).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${JSON.stringify(map[name])}`).join(',')}}`;
}
