import type { SessionView } from '../../contracts/admin/access.dto.js';
import { createContext } from 'preact';
import { useContext, useLayoutEffect, useState } from 'preact/hooks';
import { type CallError, callErrorOf, configure, get, send } from './api.js';

export type Session = SessionView;

export const SessionContext = createContext<Session>({
  kind: 'reader',
  sides: [],
  sandbox: false,
  cells: [],
  demoHaulerId: '',
});

export function useSession() {
  const session = useContext(SessionContext);
  return {
    canWrite: session.kind !== 'reader',
    isPartner: session.kind === 'partner',
    /** The interface of the connection whose key this session has. */
    connectionInterface: session.connectionInterface,
    hasSandbox: session.sandbox,
    demoHaulerId: session.demoHaulerId,
    /** The hauler and the customer of the key of a partner. */
    owners: [session.haulerId, session.customerId].filter((id) => typeof id === 'string'),
    /** The other cells behind the proxy. */
    otherCells: session.cells.filter((name) => name !== session.cell),
    hasPlatform: session.sides.includes('platform'),
  };
}

export const SESSION = '/console/api/session';

export type SessionState = Session | 'loading' | 'signed-out' | CallError;

/** The caller that is signed in. `isExpired` after the end of a session: the page stays, with the text that was typed. */
export function useSessionState() {
  const [state, setState] = useState<SessionState>('loading');
  const [isExpired, setExpired] = useState(false);
  const apply = (next: Session) => {
    configure({ prefix: next.kind === 'partner' ? '/partner/v1' : '/admin/v1', canWrite: next.kind !== 'reader' });
    setState(next);
    setExpired(false);
  };
  const load = async () => {
    try {
      apply(await get(SESSION));
    } catch (error) {
      const failure = callErrorOf(error);
      setState(failure.status === 401 ? 'signed-out' : failure);
    }
  };
  useLayoutEffect(() => {
    configure({ onSessionEnded: () => setExpired(true) });
    load().catch(reportError);
  }, []);
  const signOut = async () => {
    await send('DELETE', SESSION).catch(() => undefined);
    location.assign('/console/');
  };
  return { state, isExpired, apply, load, signOut };
}
