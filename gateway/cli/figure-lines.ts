import { counted } from '../kit/counted.ts'
import { formatAmount } from '../operations/amount.ts'
import type { Money } from '../operations/money-store.ts'
import type { OverviewView } from '../operations/overview.ts'
import type { Weather } from '../operations/weather-store.ts'

type ShownOverview = Omit<OverviewView, 'hours' | 'needs'>

export function overviewLines({ open, statuses, credited, funnel, vitals }: ShownOverview): string[] {
  const { opened, linked, priced, offered, paid } = funnel
  return [
    ...(open.length === 0 ? ['Nothing needs you now.'] : []),
    ...open.map(({ count, text }) => `needs you\t${count} ${text}`),
    ...credited.map(
      ({ currency, amountMinor, deposits }) =>
        `opened in 24 hours\t${formatAmount(amountMinor, currency)} credited\tby ${counted(deposits, 'deposit')}`,
    ),
    ...statuses.map(({ status, count }) => `opened in 24 hours\t${count} ${status}`),
    `how far shoppers came in 24 hours\t${opened} opened, ${linked} gave a link, ${priced} saw prices, ${offered} got an offer, ${paid} paid`,
    ...vitals.map(({ screen, device, metric, p75, pages }) =>
      [
        'pages in 7 days',
        screen,
        device,
        metric,
        `p75 ${p75}${metric === 'CLS' ? '' : ' ms'}`,
        counted(pages, 'page'),
      ].join('\t'),
    ),
  ]
}

export function moneyLines({ balances, own, atRisk, isCut, check }: Money): string[] {
  return [
    ...balances.map(({ storeId, store, currency, availableMinor, heldMinor }) =>
      [
        `store ${storeId}`,
        store,
        `available ${formatAmount(availableMinor, currency)}`,
        `held ${formatAmount(heldMinor, currency)}`,
      ].join('\t'),
    ),
    ...atRisk.map(({ storeId, store, usdMinor, limitUsdMinor }) =>
      [
        `store ${storeId}`,
        store,
        `at risk ${formatAmount(usdMinor, 'USD')} of ${formatAmount(limitUsdMinor, 'USD')}`,
      ].join('\t'),
    ),
    ...(isCut
      ? [
          `Only ${counted(balances.length, 'balance')} and ${counted(atRisk.length, 'limit')} are listed. All stores: store list`,
        ]
      : []),
    ...own.map(({ kind, currency, amountMinor }) => `yours\t${kind}\t${formatAmount(amountMinor, currency)}`),
    check === null
      ? 'The ledger has not been checked yet.'
      : `ledger\t${counted(check.differences, 'difference')}\tlast full check ${check.completeAt?.toISOString() ?? 'never'}`,
  ]
}

const OUTAGE_TEXT: Record<Weather['outages'][number]['kind'], string> = {
  offers: 'Steam takes no offers',
  inventories: 'Steam shows no inventories',
  maintenance: 'maintenance is on',
  deposits: 'the countdown of deposits is paused',
}

export function weatherLines({ outages, notice, bots, methods, methodBots }: Weather): string[] {
  return [
    ...(outages.length === 0 ? ['No outage of Steam is known, and maintenance is off.'] : []),
    ...outages.map(({ kind, since }) => `${OUTAGE_TEXT[kind]}\tsince ${since.toISOString()}`),
    ...(notice === null ? [] : noticeLines(notice)),
    ...bots.flatMap(({ botId, bot, online, offersFailingSince, inventoriesFailingSince }) => {
      const failing = [
        ...(online ? [] : ['offline']),
        ...(offersFailingSince === null
          ? []
          : [`offers have failed since ${offersFailingSince.toISOString()}`]),
        ...(inventoriesFailingSince === null
          ? []
          : [`inventories have failed since ${inventoriesFailingSince.toISOString()}`]),
      ]
      return failing.length === 0 ? [] : [[`bot ${botId}`, bot, ...failing].join('\t')]
    }),
    ...methods.map(({ method, ...calls }) => [method, ...callsText(calls)].join('\t')),
    ...methodBots.map(({ botId, bot, ...calls }) =>
      [botId === null ? 'public pages' : `bot ${botId} (${bot})`, ...callsText(calls)].join('\t'),
    ),
  ]
}

const noticeLines = ({ until, text }: NonNullable<Weather['notice']>): string[] => [
  ...(until === null ? [] : [`maintenance ends\t${until.toISOString()}`]),
  ...(text === null ? [] : [`shoppers read\t${text.en}`, `in Russian\t${text.ru}`]),
]

type Calls = Omit<Weather['methods'][number], 'method'>

const callsText = ({ asked, limited, failed, heldBack, averageMs, longestMs }: Calls): string[] => [
  counted(asked, 'call'),
  `${limited} refused as too many`,
  `${failed} failed`,
  `${heldBack} held back`,
  ...(averageMs === null ? [] : [`${averageMs} ms on average, ${longestMs} ms at most`]),
]
