import { NOBODY } from '../../contract/steam-id.ts'
import { PageLink } from './link.tsx'

/** The account as a CSV file names it. */
export const csvShopper = (steamId: string | null): string | null => (steamId === NOBODY ? 'erased' : steamId)

/** Links to the page of an account. `steamId`: null if none is known. An erased account has no page. */
export function ShopperLink({ steamId }: { steamId: string | null }) {
  if (steamId === null) return <span className="quiet">—</span>
  if (steamId === NOBODY) return <span className="quiet">erased</span>
  return (
    <PageLink className="whole" to={`/shoppers/${steamId}`}>
      {steamId}
    </PageLink>
  )
}
