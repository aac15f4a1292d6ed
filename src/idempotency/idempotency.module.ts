import { Module } from '@nestjs/common';
import { IdempotencySweep } from './idempotency-sweep.js';

/** The rest of the room are functions that run in the transaction of whoever answers. */
@Module({ providers: [IdempotencySweep] })
export class IdempotencyModule {}
