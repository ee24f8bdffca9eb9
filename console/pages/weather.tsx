import { useRef } from 'react'
import type { Weather } from '../../gateway/operations/weather-store.ts'
import type { Json } from '../api/json.ts'
import { ActButton } from '../ui/act.tsx'
import { useAnswer } from '../ui/answer.ts'
import { Bars } from '../ui/bars.tsx'
import { PageLink } from '../ui/link.tsx'
import { Facts, Heading, Loaded, Panel, Pill, Time } from '../ui/parts.tsx'
import { Table } from '../ui/table.tsx'
import { CALL_COLUMNS, MethodCalls } from './method-calls.tsx'

type Data = Json<Weather>

const WORDS: Record<Data['outages'][number]['kind'], string> = {
  offers: 'Steam takes no offers',
  inventories: 'Steam shows no inventories',
  maintenance: 'Maintenance is on',
  deposits: 'The countdown of deposits is paused',
}

export function WeatherPage({ query }: { query: URLSearchParams }) {
  const method = query.get('method')
  const { shown, refresh } = useAnswer<Data>('weather', method === null ? {} : { method })
  return (
    <>
      <Heading title="Weather">
        <MaintenanceActs shown={shown.kind === 'ready' ? shown.data : undefined} refresh={refresh} />
      </Heading>
      <Loaded shown={shown} refresh={refresh}>
        {({ outages, notice, bots, hours, methods, methodBots }) => (
          <>
            <Panel title="Now">
              {outages.length === 0 ? (
                <p className="empty">No outage of Steam is known, and maintenance is off.</p>
              ) : (
                <ul className="plain-list">
                  {outages.map(({ kind, since }) => (
                    <li key={kind}>
                      <Pill tone="bad">{WORDS[kind]}</Pill> since <Time at={since} />
                    </li>
                  ))}
                </ul>
              )}
              {notice !== null && <ShownNotice notice={notice} />}
            </Panel>
            <Calls hours={hours} />
            <Panel title="By method in the last 24 hours">
              <MethodCalls methods={methods} />
            </Panel>
            {method !== null && <OneMethod method={method} rows={methodBots} />}
            <Panel title="By bot">
              <Table
                caption="How Steam answers each bot"
                rows={bots}
                keyOf={({ botId }) => botId}
                empty="There is no bot yet."
                columns={[
                  { name: 'Bot', show: ({ botId, bot }) => <PageLink to={`/bots/${botId}`}>{bot}</PageLink> },
                  {
                    name: 'Connection',
                    show: ({ online }) => (
                      <Pill tone={online ? 'good' : 'bad'}>{online ? 'online' : 'offline'}</Pill>
                    ),
                  },
                  { name: 'Offers', show: (row) => <Health since={row.offersFailingSince} /> },
                  { name: 'Inventories', show: (row) => <Health since={row.inventoriesFailingSince} /> },
                ]}
              />
            </Panel>
          </>
        )}
      </Loaded>
    </>
  )
}

function OneMethod({ method, rows }: { method: string; rows: Data['methodBots'] }) {
  return (
    <Panel title={`${method} by bot`} aside={<PageLink to="/weather">Close</PageLink>}>
      <Table<Data['methodBots'][number]>
        caption={`Calls of ${method} by bot, most 429s first`}
        rows={rows}
        keyOf={({ botId }) => botId ?? 'public'}
        empty="It was not called in the last 24 hours."
        columns={[
          {
            name: 'Bot',
            show: ({ botId, bot }) =>
              botId === null ? 'public pages' : <PageLink to={`/bots/${botId}`}>{bot}</PageLink>,
          },
          ...CALL_COLUMNS,
        ]}
      />
    </Panel>
  )
}

function Calls({ hours }: { hours: Data['hours'] }) {
  const sum = (numberOf: (hour: Data['hours'][number]) => number): number =>
    hours.reduce((total, hour) => total + numberOf(hour), 0)
  return (
    <Panel title="Calls to Steam in the last 24 hours">
      <p className="quiet">
        {sum(({ asked }) => asked)} calls of all bots; Steam refused {sum(({ limited }) => limited)} of them
        as too many.
      </p>
      {hours.some(({ asked }) => asked > 0) && (
        <Bars
          rows={hours}
          height={({ asked }) => asked}
          highlight={{ height: ({ limited }) => limited, tone: 'bad' }}
          columns={[
            ['Calls', ({ asked }) => asked],
            ['Answered 429', ({ limited }) => limited],
            ['Failed', ({ failed }) => failed],
            ['Held back', ({ heldBack }) => heldBack],
          ]}
        />
      )}
    </Panel>
  )
}

function Health({ since }: { since: string | null }) {
  if (since === null) return <Pill tone="good">good</Pill>
  return (
    <>
      <Pill tone="bad">failing</Pill> since <Time at={since} />
    </>
  )
}

type Notice = NonNullable<Data['notice']>

function ShownNotice({ notice: { text, until } }: { notice: Notice }) {
  return (
    <Facts
      facts={[
        ['Ends', until === null ? 'when you turn it off' : <Time key="until" at={until} />],
        ['Shoppers read', text?.en ?? 'only the standard sentence'],
        ...(text === null ? [] : [['In Russian', text.ru] as const]),
      ]}
    />
  )
}

type Typed = { lasts?: string; en?: string; ru?: string }

/**
 * Returns the notice to set. `shown`: the notice when the dialog opened. Parts that the operator did not change stay as
 * in `current`, which another operator may have changed meanwhile, or as in `shown` if maintenance was turned off.
 */
export function noticeFrom(
  { lasts = '', en = '', ru = '' }: Typed,
  shown: Notice | null,
  current: Notice | null,
) {
  const typed = { en: en.trim(), ru: ru.trim() }
  const isTyped = typed.en !== (shown?.text?.en ?? '') || typed.ru !== (shown?.text?.ru ?? '')
  const kept = current ?? shown
  const until = kept?.until ?? null
  return {
    ...(lasts.trim() !== '' ? { lasts: lasts.trim() } : until !== null && { until }),
    text: isTyped
      ? { ...(typed.en !== '' && { en: typed.en }), ...(typed.ru !== '' && { ru: typed.ru }) }
      : (kept?.text ?? {}),
  }
}

function MaintenanceActs({ shown, refresh }: { shown: Data | undefined; refresh: () => void }) {
  const notice = shown?.notice ?? null
  const current = useRef(notice)
  current.current = notice
  const common = { needs: 'support', onDone: refresh } as const
  return (
    <>
      <ActButton
        {...common}
        act="maintenance on"
        label={notice === null ? 'Turn maintenance on' : 'Change the notice'}
        does={
          notice === null
            ? 'No new trade begins and no deposit expires. Trades under way continue.'
            : 'Shoppers see this notice instead. Maintenance stays on.'
        }
        fields={[
          {
            name: 'lasts',
            label: 'For how long',
            isOptional: true,
            hint: (notice?.until ?? null) === null ? DURATION_HINT : KEPT_END_HINT,
          },
          {
            name: 'en',
            label: 'Tell shoppers',
            value: notice?.text?.en ?? '',
            isOptional: true,
            hint: TEXT_HINT,
          },
          { name: 'ru', label: 'The same in Russian', value: notice?.text?.ru ?? '', isOptional: true },
        ]}
        input={(typed) => noticeFrom(typed, notice, current.current)}
      />
      {notice !== null && (
        <ActButton
          {...common}
          act="maintenance off"
          label="Turn maintenance off"
          does="Trades start again, and deposits get back the time lost."
          input={() => ({})}
        />
      )}
    </>
  )
}

const DURATION_HINT = 'From now, such as 45m or 2h. Leave empty to turn it off yourself.'
const KEPT_END_HINT =
  'From now, such as 45m or 2h. Leave empty to keep the end. To remove it, turn maintenance off and on.'
const TEXT_HINT =
  'The reason, in one sentence, in both languages. Leave both empty to show only the standard sentence about technical works.'
