import { Global, Module } from '@nestjs/common';
import { ApiKeyService, LastUse } from './api-key.service.js';
import { ActionLog } from './action-log.repository.js';
import { AdminGuard } from './admin-api.js';
import { AdminReads } from './admin-reads.js';
import { ApiKeyAdmin } from './api-key-admin.service.js';
import { ApiKeyGuard, RateLimit } from './served-api.js';
import { ConsoleSessions } from './console-sessions.js';
import { GuessLimit } from './guess-limit.js';
import { HaulersService } from './haulers.service.js';
import { KeyCache, KeyLookup } from './key-cache.js';
import { KeyRotation } from './key-rotation.service.js';
import { PartnerKeyGuard } from './partner-api.js';

/** A module of its own that is not global, because Nest stops such a module before the global database module. */
@Module({ providers: [LastUse], exports: [LastUse] })
export class LastUseModule {}

const keyCache = {
  provide: KeyCache,
  inject: [KeyLookup],
  useFactory: (lookup: KeyLookup) => new KeyCache((hash) => lookup.find(hash)),
};

const exported = [
  ActionLog,
  AdminGuard,
  AdminReads,
  ApiKeyAdmin,
  ApiKeyGuard,
  ApiKeyService,
  ConsoleSessions,
  GuessLimit,
  HaulersService,
  KeyRotation,
  PartnerKeyGuard,
  RateLimit,
];

/** Guards and their services. Global, because every controller needs a guard. */
@Global()
@Module({ imports: [LastUseModule], providers: [...exported, KeyLookup, keyCache], exports: exported })
export class AuthModule {}
