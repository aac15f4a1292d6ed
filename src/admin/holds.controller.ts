import { Controller, Param, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { actorOf } from '../auth/action-log.interceptor.js';
import { Route } from '../auth/route.js';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import { CreateHold, HoldBundleQuery, HoldQuery, ReleaseHold } from '../contracts/admin/holds.routes.js';
import { IdParam } from '../contracts/admin/list.dto.js';
import { SetRetention } from '../contracts/admin/retention.routes.js';
import { longWork } from '../core/http/answer.js';
import { JsonBody } from '../core/http/json-body.js';
import { Holds } from '../vision/holds/holds.service.js';
import { RetentionSettings } from '../vision/retention/retention-settings.service.js';
import { HoldBundles } from './bundles/hold-bundles.service.js';

/** What is kept for a case, and for how long the rest is. */
@Controller()
export class HoldsController {
  constructor(
    private readonly holds: Holds,
    private readonly settings: RetentionSettings,
    private readonly bundles: HoldBundles,
  ) {}

  @Route(ADMIN_API, 'createHold')
  create(@JsonBody() hold: CreateHold, @Req() request: Request, @Res({ passthrough: true }) response: Response) {
    return longWork(response, () => this.holds.create(hold, actorOf(request)));
  }

  @Route(ADMIN_API, 'listHolds')
  list(@Query() query: HoldQuery) {
    return this.holds.list(query);
  }

  @Route(ADMIN_API, 'getHold')
  get(@Param() { id }: IdParam) {
    return this.holds.get(id);
  }

  @Route(ADMIN_API, 'releaseHold')
  release(
    @Param() { id }: IdParam,
    @JsonBody() release: ReleaseHold,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ) {
    return longWork(response, () => this.holds.release(id, release, actorOf(request)));
  }

  @Route(ADMIN_API, 'getHoldBundle')
  bundle(
    @Param() { id }: IdParam,
    @Query() query: HoldBundleQuery,
    @Req() request: Request,
    @Res() response: Response,
  ) {
    return this.bundles.send(id, query, request, response);
  }

  @Route(ADMIN_API, 'getHaulerRetention')
  getRetention(@Param() { id }: IdParam) {
    return this.settings.get(id);
  }

  @Route(ADMIN_API, 'setHaulerRetention')
  setRetention(
    @Param() { id }: IdParam,
    @JsonBody() change: SetRetention,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ) {
    return longWork(response, () => this.settings.set(id, change, actorOf(request)));
  }
}
