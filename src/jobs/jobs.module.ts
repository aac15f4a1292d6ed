import { Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { JobsService } from './jobs.service.js';

/** Rooms import it and register their kinds of work with `JobsService`. */
@Module({ imports: [ScheduleModule.forRoot()], providers: [JobsService], exports: [JobsService] })
export class JobsModule {}
