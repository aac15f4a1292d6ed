import { Controller, Query } from '@nestjs/common';
import { Route } from '../../auth/route.js';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import { StorageCheckQuery, StorageRepairRequest } from '../../contracts/admin/storage.dto.js';
import { JsonBody } from '../../http/json-body.js';
import { StorageChecks } from './storage-check.service.js';
import { StorageRepairs } from './storage-repair.service.js';

@Controller()
export class StorageCheckController {
  constructor(private readonly checks: StorageChecks) {}

  @Route(ADMIN_API, 'checkStorage')
  check(@Query() query: StorageCheckQuery) {
    return this.checks.examine(query);
  }
}

/** Of the platform side, which fetches again. */
@Controller()
export class StorageRepairController {
  constructor(private readonly repairs: StorageRepairs) {}

  @Route(ADMIN_API, 'repairStorage')
  repair(@JsonBody() request: StorageRepairRequest) {
    return this.repairs.run(request);
  }
}
