import { Module } from '@nestjs/common';
import { ApiKeysController } from './api-keys.controller.js';
import { HaulersController } from './haulers.controller.js';

/** The admin API (`/admin/v1`); each room brings its services in a module of its own. */
@Module({ controllers: [HaulersController, ApiKeysController] })
export class AdminModule {}
