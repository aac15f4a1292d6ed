import { Param, Put } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { AdminApi } from '../auth/admin-api.js';
import {
  HOSTED_SITE_DATA_MAX_BYTES,
  HostedHaulerParam,
  HostedSiteDataCounts,
} from '../contracts/admin/hosted-site-data.dto.js';
import { SiteData } from '../contracts/site/site.dto.js';
import { JsonBytes } from '../http/json-body.js';
import { TakesJson } from '../http/route-documentation.js';
import { HostedSiteData } from '../site-sync/hosted/site-data.service.js';

@AdminApi('hosted/haulers')
export class HostedSiteDataController {
  constructor(private readonly data: HostedSiteData) {}

  @Put(':haulerId/site-data')
  @ApiOperation({
    summary: "Replace a hauler's data on the partner side",
    description:
      'As a whole: what is not in the body is gone, an empty body leaves the hauler unknown. ' +
      'Invalid records, repeated ids and unknown parents are refused with every violation, and nothing changes. Up to 256 MB.',
  })
  @TakesJson(SiteData)
  @ApiOkResponse({ description: 'What there is now', type: HostedSiteDataCounts })
  replace(
    @Param() { haulerId }: HostedHaulerParam,
    @JsonBytes(HOSTED_SITE_DATA_MAX_BYTES) body: Buffer,
  ): Promise<HostedSiteDataCounts> {
    return this.data.replace(haulerId, body);
  }
}
