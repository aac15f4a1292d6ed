import { COMMON_ERRORS, defineApi } from '../common/api-contract.js';
import { OneOf } from '../common/fields/decorators.js';
import { SessionView, SignInOptions, SignInRequest } from './sessions.routes.js';

export class Health {
  @OneOf('Always ok', ['ok']) status!: 'ok';
}

const NOT_SIGNED_IN = { unauthorized: 'The secret or the session is missing or wrong' };
const SESSION = { path: '/console/api/session', resource: 'session', isSecret: true } as const;
const REDIRECT = {
  method: 'GET',
  status: 302,
  resource: 'session',
  isSecret: true,
  fails: { notFound: 'OIDC_ISSUER is not set' },
} as const;
const INSTANCE = { method: 'GET', status: 200, returns: 'The state', resource: 'instance' } as const;

/** Routes for the operation of an instance and for the sign-in of the console, which no document describes. */
export const SERVICE_API = defineApi({
  name: 'service',
  title: 'Service',
  version: '1.0.0',
  prefix: '',
  keyHeader: 'Authorization',
  isHidden: true,
  routes: {
    getLiveness: {
      ...INSTANCE,
      response: Health,
      path: '/health/live',
      summary: 'Whether the event loop runs',
      description: 'Always 200.',
    },
    getReadiness: {
      ...INSTANCE,
      response: Health,
      path: '/health/ready',
      summary: 'Whether the instance can serve requests',
      description: '503 while a push could not be stored, with the reason, or while the instance is stopping.',
    },
    getMetrics: {
      ...INSTANCE,
      path: '/metrics',
      summary: 'Read the metrics',
      description: 'In the text format of Prometheus.',
      role: 'viewer',
    },
    signIn: {
      ...SESSION,
      method: 'POST',
      summary: 'Sign in to the console',
      description: 'The page gets a cookie that its scripts cannot read.',
      body: SignInRequest,
      status: 200,
      response: SessionView,
      returns: 'The rights of the session',
      fails: { ...NOT_SIGNED_IN, tooManyRequests: 'Too many wrong secrets from this address' },
    },
    getSession: {
      ...SESSION,
      method: 'GET',
      summary: 'Read the rights of the session',
      description: 'Of the cookie.',
      status: 200,
      response: SessionView,
      returns: 'The rights of the session',
      fails: NOT_SIGNED_IN,
    },
    signOut: {
      ...SESSION,
      method: 'DELETE',
      summary: 'Sign out of the console',
      description: 'Also without a session.',
      status: 204,
      returns: 'The session has ended',
      fails: NOT_SIGNED_IN,
    },
    getSignInOptions: {
      path: '/console/api/sign-in',
      resource: 'session',
      method: 'GET',
      summary: 'Read the ways to sign in to the console',
      description: 'For the sign-in page.',
      status: 200,
      response: SignInOptions,
      returns: 'The ways',
    },
    signInByLink: {
      method: 'GET',
      path: '/console/api/sign-in/link',
      resource: 'session',
      isSecret: true,
      summary: 'Sign in to the console by the link that the start of the demo prints',
      description: '`code` works once. The page gets a cookie that its scripts cannot read.',
      status: 302,
      returns: 'Leads to the console, or to the sign-in page with the fault',
      fails: { tooManyRequests: 'Too many wrong secrets from this address' },
    },
    beginSignIn: {
      ...REDIRECT,
      path: '/console/api/oidc/sign-in',
      summary: 'Sign in at the identity provider',
      description: '`return` is the console page to go to; `silent=1` shows no page of the provider.',
      returns: 'Leads to the identity provider, or back to the sign-in page with the fault',
    },
    finishSignIn: {
      ...REDIRECT,
      path: '/console/api/oidc/callback',
      summary: 'Read the answer of the identity provider',
      description: 'The page gets a cookie that its scripts cannot read.',
      returns: 'Leads to the console, or to the sign-in page with the fault',
    },
    signOutAtProvider: {
      ...REDIRECT,
      path: '/console/api/oidc/sign-out',
      summary: 'Sign out at the identity provider',
      description: 'Ends the session of the console, then that at the identity provider.',
      returns: 'Leads to the identity provider, or to the console if the provider has no such page',
    },
  },
  codes: ['INVALID_PAYLOAD', 'UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND', 'INTERNAL_ERROR'],
  errors: { ...COMMON_ERRORS, forbidden: 'FORBIDDEN', notFound: 'NOT_FOUND' },
});
