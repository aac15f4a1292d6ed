import type { SessionView } from '../../contracts/admin/session.dto.js';
import { createContext } from 'preact';
import { useContext, useLayoutEffect, useState } from 'preact/hooks';
import { CallError, configure, get, send } from './api.js';

export type Session = SessionView;

export const SessionContext = createContext<Session>({ kind: 'reader', sides: [] });

export function useSession() {
  const session = useContext(SessionContext);
  return { session, canWrite: session.kind !== 'reader', hasPlatform: session.sides.includes('platform') };
}

export const SESSION = '/console/api/session';

export type SessionState = Session | 'loading' | 'signed-out' | CallError;

/** The caller that is signed in. `isExpired` after the end of a session: the page stays, with the text that was typed. */
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
  useLayoutEffect(() => {
    configure({ onSessionEnded: () => setExpired(true) });
    void load();
  }, []);
  const signOut = async () => {
    await send('DELETE', SESSION).catch(() => undefined);
    location.assign('/console/');
  };
  return { state, isExpired, apply, load, signOut };
}
