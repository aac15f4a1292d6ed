import { Controller, Param, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { Route } from '../auth/route.js';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import { CatalogQuery } from '../contracts/admin/catalog.routes.js';
import { IdParam, ListQuery } from '../contracts/admin/list.dto.js';
import {
  ConfirmSyncRunRequest,
  QuarantineQuery,
  RejectSyncRunRequest,
  SyncChangeQuery,
  SyncRunQuery,
} from '../contracts/admin/sync-runs.routes.js';
import { listAnswer } from '../core/http/list-answer.js';
import { JsonBody } from '../core/http/json-body.js';
import { CatalogLists } from '../site-sync/catalog/catalog-lists.service.js';
import { SyncRunHistory } from '../site-sync/sync/sync-run-history.service.js';
import { RunTree } from './sync-runs/run-tree.service.js';
import { SyncRunsService } from '../site-sync/sync/sync-runs.service.js';

/** Synchronisation runs and the catalog that they maintain. */
@Controller()
export class SyncRunsController {
  constructor(
    private readonly runs: SyncRunsService,
    private readonly tree: RunTree,
    private readonly history: SyncRunHistory,
    private readonly catalog: CatalogLists,
  ) {}

  @Route(ADMIN_API, 'listSyncRuns')
  list(@Query() query: SyncRunQuery) {
    return this.runs.list(query);
  }

  @Route(ADMIN_API, 'getSyncRun')
  get(@Param() { id }: IdParam) {
    return this.runs.get(id);
  }

  @Route(ADMIN_API, 'listQuarantinedRecords')
  quarantine(@Param() { id }: IdParam, @Query() query: QuarantineQuery, @Req() request: Request) {
    return listAnswer(request, query, (part) => this.runs.quarantine(id, part));
  }

  @Route(ADMIN_API, 'listSyncRunChanges')
  changes(@Param() { id }: IdParam, @Query() query: SyncChangeQuery, @Req() request: Request) {
    return listAnswer(request, query, (part) => this.runs.listChanges(id, part));
  }

  @Route(ADMIN_API, 'listSyncRunTree')
  listTree(@Param() { id }: IdParam, @Query() query: ListQuery) {
    return this.tree.list(id, query);
  }

  @Route(ADMIN_API, 'rejectSyncRun')
  reject(@Param() { id }: IdParam, @JsonBody() { note }: RejectSyncRunRequest) {
    return this.runs.reject(id, note);
  }

  @Route(ADMIN_API, 'confirmSyncRun')
  confirm(@Param() { id }: IdParam, @JsonBody() { dryRun }: ConfirmSyncRunRequest) {
    return this.runs.confirm(id, dryRun);
  }

  @Route(ADMIN_API, 'listSyncRunHistory')
  listHistory(@Param() { id }: IdParam, @Query() query: ListQuery) {
    return this.history.list(id, query);
  }

  @Route(ADMIN_API, 'listSites')
  sites(@Query() query: CatalogQuery, @Req() request: Request) {
    return listAnswer(request, query, (part) => this.catalog.sites(part));
  }

  @Route(ADMIN_API, 'listKiosks')
  kiosks(@Query() query: CatalogQuery, @Req() request: Request) {
    return listAnswer(request, query, (part) => this.catalog.kiosks(part));
  }

  @Route(ADMIN_API, 'listMaterials')
  materials(@Query() query: CatalogQuery, @Req() request: Request) {
    return listAnswer(request, query, (part) => this.catalog.materials(part));
  }
}
