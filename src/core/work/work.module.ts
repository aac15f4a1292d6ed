import { Module } from '@nestjs/common';
import { OutboundModule } from '../outbound/outbound.module.js';
import { WorkService } from './work.service.js';

/** Needs the application's `ScheduleModule`. Modules import it and register their kinds of work with `WorkService`. */
@Module({ imports: [OutboundModule], providers: [WorkService], exports: [WorkService] })
export class WorkModule {}
