import { Controller, Param, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { actorOf } from '../../auth/action-log.interceptor.js';
import { Route } from '../../auth/route.js';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import { CreateErasure, ErasureQuery } from '../../contracts/admin/erasures.routes.js';
import { IdParam } from '../../contracts/admin/list.dto.js';
import { longWork } from '../../core/http/answer.js';
import { JsonBody } from '../../core/http/json-body.js';
import { Erasures } from './erasures.service.js';

@Controller()
export class ErasuresController {
  constructor(private readonly erasures: Erasures) {}

  @Route(ADMIN_API, 'createErasure')
  create(@JsonBody() erasure: CreateErasure, @Req() request: Request, @Res({ passthrough: true }) response: Response) {
    return longWork(response, () => this.erasures.create(erasure, actorOf(request)));
  }

  @Route(ADMIN_API, 'listErasures')
  list(@Query() query: ErasureQuery) {
    return this.erasures.list(query);
  }

  @Route(ADMIN_API, 'getErasure')
  get(@Param() { id }: IdParam) {
    return this.erasures.get(id);
  }
}
