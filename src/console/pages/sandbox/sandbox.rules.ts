import type { Hauler } from '../../../contracts/admin/haulers.routes.js';
import type { Connection } from '../../../contracts/admin/connections.routes.js';

/** Whose calls a scenario faults. */
export interface Choice {
  /** `haulers/ID` or `customers/ID`, as in the paths of the API. */
  readonly value: string;
  readonly label: string;
  /** The label within a sentence. */
  readonly name: string;
}

/** The haulers and customers that a scenario can fault. */
export function choicesOf(haulers: readonly Hauler[], connections: readonly Connection[]): Choice[] {
  const nameOf = (id: string) => haulers.find((each) => each.id === id)?.name ?? id;
  const customers = Map.groupBy(
    connections.filter((each) => each.interface === 'vision'),
    ({ customerId, haulerId }) => customerId ?? haulerId,
  );
  const ofCustomers = [...customers].map(([id, own]) => {
    const names = [...new Set(own.map(({ haulerId }) => nameOf(haulerId)))].join(', ');
    const isOwnName = own.every(({ haulerId }) => haulerId === id);
    return {
      value: `customers/${encodeURIComponent(id)}`,
      label: isOwnName ? `Customer ${names}` : `Customer ${id} (${names})`,
      name: isOwnName ? `the videos of ${names}` : `customer ${id} (${names})`,
    };
  });
  return [
    ...haulers.map(({ id, name }) => ({ value: `haulers/${id}`, label: `Hauler ${name}`, name })),
    ...ofCustomers,
  ];
}
