import { Module } from '@nestjs/common';
import { LastUse } from './last-use.js';

/** A module of its own, and not global: only so does Nest stop it before the global database module. */
@Module({ providers: [LastUse], exports: [LastUse] })
export class LastUseModule {}
