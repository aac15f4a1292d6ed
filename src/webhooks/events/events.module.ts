import { Global, Module } from '@nestjs/common';
import { Outbox } from './outbox.js';

/** What happens, written for webhook endpoints. Global, because every module of the platform side writes to it. */
@Global()
@Module({ providers: [Outbox], exports: [Outbox] })
export class EventsModule {}
