import { Controller, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Route } from '../../auth/route.js';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import { StorageCheckQuery, StorageRepairRequest } from '../../contracts/admin/storage.routes.js';
import { JsonBody } from '../../core/http/json-body.js';
import { longWork } from '../../core/http/answer.js';
import { StorageChecks, StorageRepairs } from './storage-check.service.js';

/** A million files take longer than a connection may be silent. */
const PASSTHROUGH = { passthrough: true } as const;

@Controller()
export class StorageCheckController {
  constructor(private readonly checks: StorageChecks) {}

  @Route(ADMIN_API, 'checkStorage')
  check(@Query() query: StorageCheckQuery, @Res(PASSTHROUGH) response: Response) {
    return longWork(response, () => this.checks.examine(query));
  }
}

/** Of the platform side, which fetches again. */
@Controller()
export class StorageRepairController {
  constructor(private readonly repairs: StorageRepairs) {}

  @Route(ADMIN_API, 'repairStorage')
  repair(@JsonBody() request: StorageRepairRequest, @Res(PASSTHROUGH) response: Response) {
    return longWork(response, () => this.repairs.run(request));
  }
}
