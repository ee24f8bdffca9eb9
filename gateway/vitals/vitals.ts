/**
 * The speed of the pages for shoppers: counts by bucket, and the value that three in four pages do not exceed. Pure.
 */
import type { MetricsBody } from '../../contract/widget-api.ts'

export type Device = 'phone' | 'computer'
export type Screen = MetricsBody['screen']
export type VitalName = MetricsBody['metrics'][number]['name']

export type VitalPlace = { screen: Screen; device: Device; metric: VitalName; bucket: number }
export type VitalCount = VitalPlace & { pages: number }

/** The logarithm of the factor between the bounds of a bucket. */
const LOG_FACTOR = Math.log(1.15)
/** A layout shift is counted in thousandths. */
const PER_SHIFT = 1_000

/**
 * Returns the number of the bucket. Each bound is 15 percent above the one before, in milliseconds or thousandths of a
 * layout shift; 600,000 is in bucket 96.
 */
export const bucketOf = (metric: VitalName, value: number): number => {
  const size = metric === 'CLS' ? value * PER_SHIFT : value
  // The small subtrahend keeps a value at a bound in the lower bucket, despite rounding errors.
  return size <= 1 ? 0 : Math.ceil(Math.log(size) / LOG_FACTOR - 1e-9)
}

const boundOf = (metric: VitalName, bucket: number): number => {
  const size = Math.exp(bucket * LOG_FACTOR)
  return metric === 'CLS' ? Math.round(size) / PER_SHIFT : Math.round(size)
}

/** A caller can forge these headers, but they only choose between two counts. */
export function deviceOf(headers: Record<string, string | string[] | undefined>): Device {
  const hint = headers['sec-ch-ua-mobile']
  if (hint === '?1' || hint === '?0') return hint === '?1' ? 'phone' : 'computer'
  return String(headers['user-agent'] ?? '').includes('Mobi') ? 'phone' : 'computer'
}

export type Vitals = {
  add(place: Omit<VitalPlace, 'bucket'>, value: number): void
  /** Returns the counts since the last call. */
  take(): VitalCount[]
}

/**
 * Counts the measurements of pages until they are stored. The schema of the call limits the names and the values, so
 * the number of counts is limited too.
 */
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

/** `counts` must be ordered by bucket within the same screen, device and metric. */
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
