/** How quick the pages are for shoppers: counts by bucket, and the value that three of four pages do not exceed. Pure. */
import type { MetricsBody } from '../../contract/widget-api.ts'

export type Device = 'phone' | 'computer'
export type Screen = MetricsBody['screen']
export type VitalName = MetricsBody['metrics'][number]['name']

export type VitalPlace = { screen: Screen; device: Device; metric: VitalName; bucket: number }
export type VitalCount = VitalPlace & { pages: number }

const WIDTH = Math.log(1.15)
const PER_SHIFT = 1_000

/** Milliseconds, or thousandths of a layout shift, up to the bound of their bucket. 600,000 are in the 96th. */
export const bucketOf = (metric: VitalName, value: number): number => {
  const size = metric === 'CLS' ? value * PER_SHIFT : value
  return size <= 1 ? 0 : Math.ceil(Math.log(size) / WIDTH - 1e-9)
}

const boundOf = (metric: VitalName, bucket: number): number => {
  const size = Math.exp(bucket * WIDTH)
  return metric === 'CLS' ? Math.round(size) / PER_SHIFT : Math.round(size)
}

/** Anybody may send any header: it only chooses between two counts. */
export function deviceOf(headers: Record<string, string | string[] | undefined>): Device {
  const told = headers['sec-ch-ua-mobile']
  if (told === '?1' || told === '?0') return told === '?1' ? 'phone' : 'computer'
  return String(headers['user-agent'] ?? '').includes('Mobi') ? 'phone' : 'computer'
}

export type Vitals = {
  add(place: Omit<VitalPlace, 'bucket'>, value: number): void
  /** The counts since the last time. */
  take(): VitalCount[]
}

/** Counts what pages measured until it is written down. There are only so many places, whatever is sent. */
export function createVitals(): Vitals {
  let counts = new Map<string, VitalCount>()
  return {
    add({ screen, device, metric }, value) {
      const bucket = bucketOf(metric, value)
      const key = [screen, device, metric, bucket].join()
      const pages = (counts.get(key)?.pages ?? 0) + 1
      counts.set(key, { screen, device, metric, bucket, pages })
    },
    take() {
      const taken = [...counts.values()]
      counts = new Map()
      return taken
    },
  }
}

export type Vital = Omit<VitalPlace, 'bucket'> & { p75: number; pages: number }

/** `counts` in the order of their places, and of their buckets. */
export function vitalsOf(counts: readonly VitalCount[]): Vital[] {
  const places = Map.groupBy(counts, ({ screen, device, metric }) => [screen, device, metric].join())
  return [...places.values()].flatMap((rows) => {
    const [first] = rows
    if (first === undefined) return []
    const { screen, device, metric } = first
    const pages = rows.reduce((sum, row) => sum + row.pages, 0)
    let below = 0
    const row = rows.find((each) => {
      below += each.pages
      return below >= pages * 0.75
    })
    return [{ screen, device, metric, p75: boundOf(metric, (row ?? first).bucket), pages }]
  })
}
