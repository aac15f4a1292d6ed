import type { SessionView } from '../../contracts/admin/session.dto.js';
import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import { CallError, configure, get, send } from './api.js';

export type Session = SessionView;

export interface SessionRights {
  readonly session: Session;
  readonly canWrite: boolean;
}

export const SessionContext = createContext<SessionRights>({ session: { kind: 'reader' }, canWrite: false });
export const useSession = (): SessionRights => useContext(SessionContext);

export const SESSION = '/console/api/session';

export type SessionState = Session | 'loading' | 'signed-out' | CallError;

/** The caller that is signed in. `isExpired` after a session that ended: the page stays, with all that was typed. */
export function useSessionState() {
  const [state, setState] = useState<SessionState>('loading');
  const [isExpired, setExpired] = useState(false);
  const apply = (next: Session) => {
    configure({ prefix: next.kind === 'partner' ? '/partner/v1' : '/admin/v1' });
    setState(next);
    setExpired(false);
  };
  const load = async () => {
    try {
      apply(await get<Session>(SESSION));
    } catch (error) {
      const isSignedOut = error instanceof CallError && error.status === 401;
      setState(isSignedOut ? 'signed-out' : error instanceof CallError ? error : new CallError(0, String(error)));
    }
  };
  useEffect(() => {
    configure({ onSessionEnded: () => setExpired(true) });
    void load();
  }, []);
  const signOut = async () => {
    await send('DELETE', SESSION).catch(() => undefined);
    location.assign('/console/');
  };
  return { state, isExpired, apply, load, signOut };
}
