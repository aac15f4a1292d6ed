import { Module } from '@nestjs/common';
import { WorkService } from './work.service.js';

/** Needs the application's `ScheduleModule`. Modules import it and register their kinds of work with `WorkService`. */
@Module({ providers: [WorkService], exports: [WorkService] })
export class WorkModule {}
