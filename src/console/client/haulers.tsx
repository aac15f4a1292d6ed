import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Connection } from '../../contracts/admin/connections.routes.js';
import type { Hauler } from '../../contracts/admin/haulers.routes.js';
import { type Loaded, useAll } from './load.js';
import { useSession } from './session.js';

/** The value of a choice, and its label. */
export type NamedChoice = readonly [id: string, label: string];

type Haulers = Pick<Loaded<readonly Hauler[]>, 'data' | 'error'>;

const HaulersContext = createContext<Haulers>({ data: undefined, error: undefined });

const EVERY_MS = 60_000;
const { compare } = new Intl.Collator(undefined, { numeric: true });

/** Loads the haulers once for all parts of the page. A partner cannot read them. */
export function HaulersProvider({ children }: { children: ComponentChildren }) {
  const haulers = useAll(useSession().isPartner ? undefined : '/haulers', {}, EVERY_MS);
  return <HaulersContext.Provider value={haulers}>{children}</HaulersContext.Provider>;
}

/** All haulers, the newest first, and as choices by name. */
export function useHaulers() {
  const { data, error } = useContext(HaulersContext);
  const haulers = data ?? [];
  const choices = byLabel(haulers.map(({ id, name }) => [id, name]));
  return { haulers, choices, error, isLoaded: data !== undefined };
}

const byLabel = (choices: readonly NamedChoice[]): readonly NamedChoice[] =>
  choices.toSorted(([, one], [, other]) => compare(one, other));

/** The name of a hauler; its id where the name is not known. */
export function useHaulerName(): (id: string | null) => string {
  const { data, error } = useContext(HaulersContext);
  const names = new Map(data?.map(({ id, name }) => [id, name]));
  const isLoading = data === undefined && error === undefined;
  return (id) => (id === null ? 'all haulers' : (names.get(id) ?? (isLoading ? '…' : id)));
}

/** The name of a connection: its hauler and interface; its id where it is not known. */
export function useConnectionName(): (id: string) => string {
  const connections = useConnections();
  const haulerName = useHaulerName();
  return (id) => {
    const found = connections?.find((each) => each.id === id);
    return found === undefined ? id : `${haulerName(found.haulerId)}, ${found.interface}`;
  };
}

/** The connections of an interface as choices; of both without one. Undefined until they are loaded. */
export function useConnectionChoices(kind?: Connection['interface']): readonly NamedChoice[] | undefined {
  const connections = useConnections(kind);
  const haulerName = useHaulerName();
  const labelOf = ({ haulerId, interface: own, baseUrl }: Connection) =>
    kind === undefined
      ? `${haulerName(haulerId)}, ${own}`
      : `${haulerName(haulerId)} (${baseUrl.replace(/^https?:\/\//, '')})`;
  return connections && byLabel(connections.map((each) => [each.id, labelOf(each)]));
}

/** All connections of an interface, or of both; undefined until they are loaded, without the platform side, and for partners. */
export function useConnections(kind?: Connection['interface']): readonly Connection[] | undefined {
  const { hasPlatform, isPartner } = useSession();
  return useAll(hasPlatform && !isPartner ? '/connections' : undefined, { interface: kind }).data;
}
