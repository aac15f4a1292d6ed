import type { Hauler } from '../../../contracts/admin/hauler.dto.js';
import type { Connection } from '../../../contracts/admin/connection.dto.js';

/** Whose calls a scenario faults. */
export interface Choice {
  /** `haulers/ID` or `customers/ID`, as in the paths of the API. */
  readonly value: string;
  readonly label: string;
  /** The label within a sentence. */
  readonly name: string;
  /** Its calls are no exercise: a fault hurts somebody. */
  readonly isReal: boolean;
}

/** The haulers and customers that a scenario can fault; those of the demo first. */
export function choicesOf(haulers: readonly Hauler[], connections: readonly Connection[], demoId: string): Choice[] {
  const nameOf = (id: string) => haulers.find((each) => each.id === id)?.name ?? id;
  const customers = Map.groupBy(
    connections.filter((each) => each.interface === 'vision'),
    ({ customerId, haulerId }) => customerId ?? haulerId,
  );
  const ofHaulers = haulers.map(({ id, name }) => ({
    value: `haulers/${id}`,
    label: `Hauler ${name}`,
    name,
    isReal: id !== demoId,
  }));
  const ofCustomers = [...customers].map(([id, own]) => {
    const names = [...new Set(own.map(({ haulerId }) => nameOf(haulerId)))].join(', ');
    const isOwnName = own.every(({ haulerId }) => haulerId === id);
    return {
      value: `customers/${encodeURIComponent(id)}`,
      label: isOwnName ? `Customer ${names}` : `Customer ${id} (${names})`,
      name: isOwnName ? `the videos of ${names}` : `customer ${id} (${names})`,
      // Another hauler may read the videos of the demo's customer.
      isReal: id !== demoId || own.some(({ haulerId }) => haulerId !== demoId),
    };
  });
  return [...ofHaulers, ...ofCustomers].sort((one, other) => Number(one.isReal) - Number(other.isReal));
}

/** A key that opens anything but the demo. */
export const isRealKey = (owners: readonly string[], demoId: string): boolean =>
  owners.length === 0 || owners.some((id) => id !== demoId);
