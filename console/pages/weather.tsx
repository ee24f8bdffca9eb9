import type { Weather } from '../../gateway/console/overview-store.ts'
import type { Json } from '../api/json.ts'
import { ActButton } from '../ui/act.tsx'
import { useAnswer } from '../ui/answer.ts'
import { Bars } from '../ui/bars.tsx'
import { Heading, Loaded, Panel, Pill, Time } from '../ui/parts.tsx'
import { Table } from '../ui/table.tsx'

type Data = Json<Weather>

const WORDS: Record<Data['outages'][number]['kind'], string> = {
  offers: 'Steam takes no offers',
  inventories: 'Steam shows no inventories',
  maintenance: 'Maintenance is on',
  deposits: 'No deposit can be paid',
}

export function WeatherPage() {
  const { shown, again } = useAnswer<Data>('weather', {})
  return (
    <>
      <Heading title="Weather">
        <MaintenanceActs shown={shown.kind === 'ready' ? shown.data : undefined} again={again} />
      </Heading>
      <Loaded shown={shown} again={again}>
        {({ outages, bots, hours }) => (
          <>
            <Panel title="Now">
              {outages.length === 0 ? (
                <p className="empty">Steam answers, and maintenance is off.</p>
              ) : (
                <ul className="plain-list">
                  {outages.map(({ kind, since }) => (
                    <li key={kind}>
                      <Pill tone="bad">{WORDS[kind]}</Pill> since <Time at={since} />
                    </li>
                  ))}
                </ul>
              )}
            </Panel>
            <Calls hours={hours} />
            <Panel title="By bot">
              <Table
                caption="How Steam answers each bot"
                rows={bots}
                keyOf={({ botId }) => botId}
                empty="There is no bot yet."
                columns={[
                  { name: 'Bot', show: ({ bot }) => bot },
                  {
                    name: 'Reach',
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

function Calls({ hours }: { hours: Data['hours'] }) {
  const sum = (of: (hour: Data['hours'][number]) => number): number =>
    hours.reduce((all, hour) => all + of(hour), 0)
  return (
    <Panel title="Calls to Steam in the last 24 hours">
      <p className="quiet">
        {sum(({ asked }) => asked)} calls of all bots; Steam answered 429 to {sum(({ limited }) => limited)}{' '}
        of them.
      </p>
      {hours.some(({ asked }) => asked > 0) && (
        <Bars
          rows={hours}
          most={({ asked }) => asked}
          part={{ of: ({ limited }) => limited, tone: 'bad' }}
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

function MaintenanceActs({ shown, again }: { shown: Data | undefined; again: () => void }) {
  const isOn = shown?.outages.some(({ kind }) => kind === 'maintenance') === true
  return (
    <ActButton
      act={isOn ? 'maintenance off' : 'maintenance on'}
      label={isOn ? 'Turn maintenance off' : 'Turn maintenance on'}
      does={
        isOn
          ? 'Trades begin again, and deposits get back the time that stood still.'
          : 'No new trade begins and no deposit expires. Trades under way go on.'
      }
      needs="support"
      input={() => ({})}
      onDone={again}
    />
  )
}
