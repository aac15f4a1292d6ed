import { Get, Param, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { AdminApi } from '../auth/admin-api.js';
import { HaulersService } from '../auth/haulers.service.js';
import { CreateHaulerRequest, Hauler, HAULER_EXAMPLES } from '../contracts/admin/hauler.dto.js';
import { IdParam, List, listOf } from '../contracts/admin/list.dto.js';
import { PageQuery } from '../contracts/common/pagination.dto.js';
import { JsonBody } from '../http/json-body.js';
import { FailsWith, TakesJson } from '../http/route-documentation.js';

@AdminApi('haulers')
export class HaulersController {
  constructor(private readonly haulers: HaulersService) {}

  @Post()
  @ApiOperation({ summary: 'Create a hauler', description: 'A hauler is a tenant of the platform.' })
  @TakesJson(CreateHaulerRequest, { examples: HAULER_EXAMPLES })
  @ApiCreatedResponse({ description: 'The hauler', type: Hauler })
  @FailsWith({ conflict: 'There is a hauler of that id already' })
  create(@JsonBody() request: CreateHaulerRequest): Promise<Hauler> {
    return this.haulers.create(request);
  }

  @Get()
  @ApiOperation({ summary: 'List haulers', description: 'Newest first.' })
  @ApiOkResponse({ description: 'A page of haulers', type: listOf(Hauler) })
  list(@Query() query: PageQuery): Promise<List<Hauler>> {
    return this.haulers.list(query);
  }

  @Get(':id')
  @ApiOperation({ summary: 'Read a hauler', description: 'By its id.' })
  @ApiOkResponse({ description: 'The hauler', type: Hauler })
  @FailsWith({ notFound: 'There is no such hauler' })
  get(@Param() { id }: IdParam): Promise<Hauler> {
    return this.haulers.get(id);
  }
}
