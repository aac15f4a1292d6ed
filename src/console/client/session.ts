import type { SessionView } from '../../contracts/admin/sessions.routes.js';
import { type AdminRole, includesRole } from '../../contracts/common/roles.values.js';
import { createContext } from 'preact';
import { useContext, useLayoutEffect, useState } from 'preact/hooks';
import { type CallError, callErrorOf, configure, get, send } from './api.js';

export type Session = SessionView;

/** What the changes on a page, or on a part of it, need. */
export interface Needs {
  readonly writes?: AdminRole;
  /** They are refused to a session that is limited to haulers. */
  readonly isOfAllHaulers?: boolean;
}

/** The session, and what the changes on the page need. */
export const SessionContext = createContext<Session & Needs>({
  kind: 'reader',
  sides: [],
  sandbox: false,
  demoHaulerId: '',
});

/** Whether a session may do what needs a role. The key of a partner has none: the service knows what it may do. */
const mayDo = ({ kind, role = kind === 'partner' ? 'admin' : 'viewer' }: Session, needed: AdminRole): boolean =>
  includesRole(role, needed);

export function useSession() {
  const session = useContext(SessionContext);
  const { writes = 'operator', role = 'viewer', isOfAllHaulers = false } = session;
  const isLimited = isOfAllHaulers && session.haulers !== undefined;
  return {
    canWrite: !isLimited && mayDo(session, writes),
    may: (needed: AdminRole) => mayDo(session, needed),
    /** Why a change that needs a role is refused. */
    refusalOf: (needed: AdminRole = writes) =>
      isLimited
        ? 'This concerns all haulers; this session is limited to some of them.'
        : `This needs the role ${needed}; this session has the role ${role}.`,
    /** The haulers that the session is limited to; undefined for all. */
    haulers: session.haulers,
    isPartner: session.kind === 'partner',
    /** The interface of the connection whose key this session has. */
    connectionInterface: session.connectionInterface,
    hasSandbox: session.sandbox,
    demoHaulerId: session.demoHaulerId,
    hasPlatform: session.sides.includes('platform'),
  };
}

export const SESSION = '/console/api/session';
export const PERSON_SIGN_IN = '/console/api/oidc/sign-in';
const PERSON_SIGN_OUT = '/console/api/oidc/sign-out';

/** Set while a person is signed in in this tab: the end of its session leads to the identity provider without a page. */
const PERSON_MARK = 'haulbridge-person';

/** Signs a person in again where the identity provider still knows it. Returns whether it does so. */
function signInSilently(): boolean {
  if (sessionStorage.getItem(PERSON_MARK) === null) return false;
  sessionStorage.removeItem(PERSON_MARK);
  const query = new URLSearchParams({ silent: '1', return: location.pathname + location.search });
  location.assign(`${PERSON_SIGN_IN}?${query.toString()}`);
  return true;
}

export type SessionState = Session | 'loading' | 'signed-out' | CallError;

/** The caller that is signed in. `isExpired` after the end of a session: the page stays, with the text that was typed. */
export function useSessionState() {
  const [state, setState] = useState<SessionState>('loading');
  const [isExpired, setExpired] = useState(false);
  const apply = (next: Session) => {
    configure({ prefix: next.kind === 'partner' ? '/partner/v1' : '/admin/v1', canWrite: next.kind !== 'reader' });
    if (next.isPerson === true) sessionStorage.setItem(PERSON_MARK, '1');
    else sessionStorage.removeItem(PERSON_MARK);
    setState(next);
    setExpired(false);
  };
  const load = async () => {
    try {
      apply(await get(SESSION));
    } catch (error) {
      const failure = callErrorOf(error);
      if (failure.status === 401 && signInSilently()) return;
      setState(failure.status === 401 ? 'signed-out' : failure);
    }
  };
  useLayoutEffect(() => {
    configure({
      onSessionEnded: () => {
        // What is typed in a form must not be lost.
        if (document.querySelector('main form.form') !== null || !signInSilently()) setExpired(true);
      },
    });
    load().catch(reportError);
  }, []);
  const signOut = async () => {
    const isPerson = sessionStorage.getItem(PERSON_MARK) !== null;
    sessionStorage.removeItem(PERSON_MARK);
    // The page asks for nothing more: it is gone before its session is.
    setState('loading');
    await new Promise((resolve) => setTimeout(resolve));
    // That of a person is ended by the page that leads to the identity provider.
    if (!isPerson) await send('DELETE', SESSION).catch(() => undefined);
    location.assign(isPerson ? PERSON_SIGN_OUT : '/console/');
  };
  return { state, isExpired, apply, load, signOut };
}
