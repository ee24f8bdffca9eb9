import { ALERT_KINDS, type AlertKind, alertText } from '../alerts/alert.ts'
import { type Money, readMoney } from './money-store.ts'
import { type Answer, done, type ReadDeps, refused } from './operation.ts'
import { type Overview, readOverview } from './overview-store.ts'
import { readWeather, type Weather, type WeatherFilter } from './weather-store.ts'

/** `open`: what needs a person, worst first. */
export type OverviewView = Overview & { open: { kind: AlertKind; count: number; text: string }[] }

export async function showOverview({ db, clock }: ReadDeps): Promise<Answer<OverviewView>> {
  const overview = await readOverview(db, clock.now())
  const open = ALERT_KINDS.flatMap((kind) => {
    const count = overview.needs[kind]
    return count > 0 ? [{ kind, count, text: alertText(kind, count) }] : []
  })
  return done({ ...overview, open })
}

export const showMoney = async ({ db }: ReadDeps): Promise<Answer<Money>> => done(await readMoney(db))

/**
 * `method`: also count the calls of this method by bot. `bot`: the counts by method are of this bot alone; those by
 * hour are always of all bots.
 */
export async function showWeather({ db }: ReadDeps, filter: WeatherFilter = {}): Promise<Answer<Weather>> {
  const weather = await readWeather(db, filter)
  return weather === undefined ? refused('not_found', 'There is no such bot.') : done(weather)
}
