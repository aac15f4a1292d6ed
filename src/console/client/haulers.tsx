import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Connection } from '../../contracts/admin/connection.dto.js';
import type { Hauler } from '../../contracts/admin/hauler.dto.js';
import type { List } from '../../contracts/admin/list.dto.js';
import type { CallError } from './api.js';
import { useLoad } from './load.js';
import { useSession } from './session.js';

interface Haulers {
  readonly data: List<Hauler> | undefined;
  readonly error: CallError | undefined;
}

const HaulersContext = createContext<Haulers>({ data: undefined, error: undefined });

const EVERY_MS = 60_000;

/** Loads the haulers once for all parts of the page. A partner cannot read them. */
export function HaulersProvider({ children }: { children: ComponentChildren }) {
  const path = useSession().isPartner ? undefined : '/haulers';
  const haulers = useLoad(path, { pageSize: 100 }, EVERY_MS);
  return <HaulersContext.Provider value={haulers}>{children}</HaulersContext.Provider>;
}

/** The haulers, by name. */
export function useHaulers() {
  const { data, error } = useContext(HaulersContext);
  const haulers = data?.data ?? [];
  const choices = haulers.map(({ id, name }) => [id, name] as const);
  return { haulers, choices, error, isLoaded: data !== undefined };
}

/** The name of a hauler; its id where the name is not known. */
export function useHaulerName(): (id: string | null) => string {
  const names = new Map(useHaulers().choices);
  return (id) => (id === null ? 'all haulers' : (names.get(id) ?? id));
}

/** The name of a connection: its hauler and interface; its id where it is not known. */
export function useConnectionName(): (id: string) => string {
  const connections = useConnections() ?? [];
  const haulerName = useHaulerName();
  return (id) => {
    const found = connections.find((each) => each.id === id);
    return found === undefined ? id : `${haulerName(found.haulerId)}, ${found.interface}`;
  };
}

/** The name of a key by its first characters, for a hauler; undefined if it has none. */
export function useKeyName(haulerId: string): (prefix: string) => string | undefined {
  const keys = useLoad('/api-keys', { haulerId, pageSize: 100 }).data?.data ?? [];
  return (prefix) => keys.find((key) => key.prefix === prefix)?.name ?? undefined;
}

/** The connections of an interface, or of both; undefined until they are loaded, without the platform side, and for partners. */
export function useConnections(kind?: Connection['interface']): readonly Connection[] | undefined {
  const { hasPlatform, isPartner } = useSession();
  const path = hasPlatform && !isPartner ? '/connections' : undefined;
  return useLoad(path, { interface: kind, pageSize: 100 }).data?.data;
}
