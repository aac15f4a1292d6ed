import { Controller, Get } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { ReadinessService } from './readiness.service.js';

@ApiExcludeController()
@Controller('/health')
export class HealthController {
  constructor(private readonly readiness: ReadinessService) {}

  /** The process runs and its event loop turns. */
  @Get('/live')
  live() {
    return { status: 'ok' };
  }

  /** Send traffic here; 503 while the database is away, migrations are missing, or the instance is stopping. */
  @Get('/ready')
  async ready() {
    await this.readiness.assertReady();
    return { status: 'ok' };
  }
}
