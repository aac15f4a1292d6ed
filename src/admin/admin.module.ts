import { Module } from '@nestjs/common';
import { ApiKeysController } from './api-keys.controller.js';
import { HaulersController } from './haulers.controller.js';

/** Administration of what both sides have: haulers and API keys. */
@Module({ controllers: [HaulersController, ApiKeysController] })
export class AdminModule {}
