import type { Clock } from '../../kit/clock.ts'
import type { WebSources } from '../settings.ts'
import { csfloatPrices } from './csfloat.ts'
import { referenceRates } from './ecb.ts'
import { filePrices } from './file.ts'
import { marketPrices } from './market.ts'
import { webRates } from './rates.ts'
import { skinportPrices } from './skinport.ts'
import type { PriceSource } from './source.ts'
import { waxpeerPrices } from './waxpeer.ts'

/** `file`: the operator's own list, or the sandbox's; undefined if there is none. */
export function priceSources(
  { file, web }: { file: string | URL | undefined; web: WebSources },
  clock: Clock,
): PriceSource[] {
  const sources: (PriceSource | undefined)[] = [
    file === undefined ? undefined : filePrices({ path: file, clock }),
    web.market === undefined ? undefined : marketPrices(web.market),
    web.skinport === undefined ? undefined : skinportPrices(web.skinport),
    web.waxpeer === undefined ? undefined : waxpeerPrices({ base: web.waxpeer, clock }),
    web.csfloat === undefined ? undefined : csfloatPrices({ base: web.csfloat, clock }),
    web.rates === undefined ? undefined : webRates(web.rates),
    web.ecb === undefined ? undefined : referenceRates(web.ecb),
  ]
  return sources.filter((source) => source !== undefined)
}
