import type { ReactNode } from 'react'
import { ActsPage } from './pages/acts.tsx'
import { AttemptsPage } from './pages/attempts.tsx'
import { BotPage } from './pages/bot.tsx'
import { BotsPage } from './pages/bots.tsx'
import { DepositPage } from './pages/deposit.tsx'
import { DepositsPage } from './pages/deposits.tsx'
import { FindPage } from './pages/find.tsx'
import { ItemsPage } from './pages/items.tsx'
import { MoneyPage } from './pages/money.tsx'
import { OverviewPage } from './pages/overview.tsx'
import { PricesPage } from './pages/prices.tsx'
import { ReportPage } from './pages/report.tsx'
import { SettingsPage } from './pages/settings.tsx'
import { ShopperPage } from './pages/shopper.tsx'
import { ShoppersPage } from './pages/shoppers.tsx'
import { StorePage } from './pages/store.tsx'
import { StoresPage } from './pages/stores.tsx'
import { TradesPage } from './pages/trades.tsx'
import { WeatherPage } from './pages/weather.tsx'
import { WebhooksPage } from './pages/webhooks.tsx'
import type { Place } from './ui/place.ts'

/** The pages of the menu, the most important first. */
export const MENU = [
  ['/', 'Overview'],
  ['/deposits', 'Deposits'],
  ['/trades', 'Trades'],
  ['/stores', 'Stores'],
  ['/bots', 'Bots'],
  ['/shoppers', 'Shoppers'],
  ['/money', 'Money'],
  ['/webhooks', 'Webhooks'],
  ['/prices', 'Prices'],
  ['/items', 'Items'],
  ['/weather', 'Weather'],
  ['/acts', 'Acts'],
  ['/settings', 'Settings'],
] as const

/** True if the path leads to the page `to`, or to a page below it. No page is below the overview. */
export const isAt = (path: string, to: string): boolean =>
  path === to || (to !== '/' && path.startsWith(`${to}/`))

/** Pages that the menu does not list. */
const OTHER_PAGES = [
  ['/find', 'Find'],
  ['/reports', 'Report'],
] as const

export const nameOfPage = (path: string): string =>
  [...MENU, ...OTHER_PAGES].find(([to]) => isAt(path, to))?.[1] ?? 'No such page'

const PAGES: Record<string, (place: Place) => ReactNode> = {
  '/': () => <OverviewPage />,
  '/find': (place) => <FindPage query={place.query} />,
  '/deposits': (place) => <DepositsPage query={place.query} />,
  '/trades': (place) => <TradesPage query={place.query} />,
  '/stores': () => <StoresPage />,
  '/bots': () => <BotsPage />,
  '/shoppers': () => <ShoppersPage />,
  '/money': () => <MoneyPage />,
  '/webhooks': (place) => <WebhooksPage query={place.query} />,
  '/prices': (place) => <PricesPage query={place.query} />,
  '/items': (place) => <ItemsPage query={place.query} />,
  '/weather': (place) => <WeatherPage query={place.query} />,
  '/acts': (place) => <ActsPage query={place.query} />,
  '/settings': () => <SettingsPage />,
}

/** Pages of a single deposit, store, bot and so on, by its number. A shopper has the Steam id instead. */
const DETAIL_PAGES: Record<string, (id: string, place: Place) => ReactNode> = {
  deposits: (id) => <DepositPage depositId={id} />,
  stores: (id) => <StorePage storeId={id} />,
  bots: (id) => <BotPage bot={id} />,
  webhooks: (id) => <AttemptsPage endpointId={id} />,
  shoppers: (id) => <ShopperPage steamId={id} />,
  reports: (id, place) => <ReportPage storeId={id} query={place.query} />,
}

export function pageOf(place: Place): ReactNode {
  const [, kind = '', id = ''] =
    /^\/(deposits|stores|bots|webhooks|shoppers|reports)\/(\d{1,18})$/.exec(place.path) ?? []
  const page = DETAIL_PAGES[kind]?.(id, place) ?? PAGES[place.path]?.(place)
  return page ?? <p className="empty">There is no such page.</p>
}
