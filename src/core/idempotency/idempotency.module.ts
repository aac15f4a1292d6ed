import { Module } from '@nestjs/common';
import { IdempotencySweep } from './idempotency-sweep.job.js';

/** The other files of this folder are functions that run in the caller's transaction. */
@Module({ providers: [IdempotencySweep] })
export class IdempotencyModule {}
