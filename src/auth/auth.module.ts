import { Global, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { ENV, type ResolvedEnv } from '../core/config/env.js';
import { ApiKeyService, LastUse } from './api-key.service.js';
import { ActionLog } from './action-log.repository.js';
import { AdminTokens } from './caller.js';
import { AdminAccess, HaulerAccess } from './hauler-access.js';
import { AdminReads } from './route-interceptors.js';
import { ApiKeyAdmin } from './api-key-admin.service.js';
import { ConsoleSessions } from './console-sessions.js';
import { GuessLimit, RateLimit } from './limits.js';
import { HaulersService } from './haulers.service.js';
import { KeyCache, KeyLookup } from './key-cache.js';
import { KeyRotation } from './key-rotation.service.js';
import { OidcClient } from './people/oidc-client.js';
import { People } from './people/people.js';
import { PersonSignIn, SessionList } from './people/person-sign-in.js';
import { RouteGuard } from './route.guard.js';
import { SignInLinks } from './sign-in-links.js';

/** A module of its own that is not global, because Nest stops such a module before the global database module. */
@Module({ providers: [LastUse], exports: [LastUse] })
export class LastUseModule {}

const adminTokens = {
  provide: AdminTokens,
  inject: [ENV],
  useFactory: (env: ResolvedEnv) => new AdminTokens(env),
};

const keyCache = {
  provide: KeyCache,
  inject: [KeyLookup],
  useFactory: (lookup: KeyLookup) => new KeyCache((hash) => lookup.find(hash)),
};

/** Before all other guards. */
const guard = { provide: APP_GUARD, useClass: RouteGuard };

const exported = [
  ActionLog,
  AdminReads,
  ApiKeyAdmin,
  ApiKeyService,
  ConsoleSessions,
  GuessLimit,
  HaulersService,
  SignInLinks,
  KeyRotation,
  OidcClient,
  People,
  PersonSignIn,
  SessionList,
];

const own = [AdminAccess, HaulerAccess, KeyLookup, RateLimit];

/**
 * Who calls: keys of both headers, people and their sessions, tokens and roles, and the log of what they did. It knows the contract of
 * a route and nothing of what the route does. Global, because the interceptors of routes need its services.
 */
@Global()
@Module({
  imports: [LastUseModule],
  providers: [...exported, ...own, adminTokens, keyCache, guard],
  exports: [...exported, AdminTokens],
})
export class AuthModule {}
