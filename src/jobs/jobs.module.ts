import { Module } from '@nestjs/common';
import { JobsService } from './jobs.service.js';

/** Needs the application's `ScheduleModule`. Modules import it and register their kinds of work with `JobsService`. */
@Module({ providers: [JobsService], exports: [JobsService] })
export class JobsModule {}
