import { Controller, Param, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Route } from '../../auth/route.js';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import { DryRunQuery } from '../../contracts/admin/fields.js';
import { IdParam, ListQuery } from '../../contracts/admin/list.dto.js';
import { CreateRecordingShare, SHARED_API, ShareQuery } from '../../contracts/admin/shares.routes.js';
import { JsonBody } from '../../core/http/json-body.js';
import { requestedOrigin } from '../../core/http/url.js';
import { SharedRecordings } from './shared-recordings.service.js';
import { RecordingShares } from './shares.service.js';

/** The links to recordings, as administrators make them, and as everybody opens them. */
@Controller()
export class SharesController {
  constructor(
    private readonly shares: RecordingShares,
    private readonly shared: SharedRecordings,
  ) {}

  @Route(ADMIN_API, 'createRecordingShare')
  create(@Param() { id }: IdParam, @JsonBody() share: CreateRecordingShare, @Req() request: Request) {
    return this.shares.create(id, share, requestedOrigin(request));
  }

  @Route(ADMIN_API, 'listRecordingShares')
  listOf(@Param() { id }: IdParam, @Query() query: ListQuery) {
    return this.shares.listOf(id, query);
  }

  @Route(ADMIN_API, 'listShares')
  list(@Query() query: ShareQuery) {
    return this.shares.list(query);
  }

  @Route(ADMIN_API, 'revokeShare')
  revoke(@Param() { id }: IdParam, @Query() { dryRun }: DryRunQuery) {
    return this.shares.revoke(id, dryRun);
  }

  @Route(SHARED_API, 'openShare')
  open(@Param('token') token: string, @Req() request: Request, @Res() response: Response) {
    return this.shared.open(token, request, response);
  }

  @Route(SHARED_API, 'viewShare')
  view(@Param('token') token: string, @Req() request: Request, @Res() response: Response) {
    return this.shared.view(token, request, response);
  }

  @Route(SHARED_API, 'playShare')
  play(@Param('token') token: string, @Req() request: Request, @Res() response: Response) {
    return this.shared.play(token, request, response);
  }
}
