import type { Bot } from '../../contract/widget-api.ts'
import { formatDateOnly } from '../i18n/format.ts'
import { Avatar } from '../ui/avatar.tsx'
import { WarningIcon } from '../ui/icons.tsx'
import { OutsideLink } from '../ui/outside-link.tsx'
import { LevelBadge } from './level.tsx'
import { useModalTexts } from './texts.ts'

/** The bot's name, level and more, to compare on Steam: the secret code proves little, because a thief can read it. */
export function BotCheck({ bot }: { bot: Bot | null }) {
  const { texts } = useModalTexts()
  return (
    <>
      {bot !== null && <BotCard bot={bot} />}
      <p className="scam-warning">
        <WarningIcon />
        <span>{bot?.memberSince === undefined ? texts.scamWarningLevel : texts.scamWarning}</span>
      </p>
    </>
  )
}

function BotCard({ bot: { name, avatarUrl, profileUrl, level, memberSince } }: { bot: Bot }) {
  const { texts, language } = useModalTexts()
  return (
    <div className="bot">
      <Avatar url={avatarUrl} size={44} />
      <div className="bot-text">
        <strong>{name}</strong>
        {memberSince !== undefined && (
          <p className="quiet">{texts.memberSince(formatDateOnly(memberSince, language))}</p>
        )}
        <OutsideLink href={profileUrl} text={texts.botProfile} />
      </div>
      <LevelBadge level={level} />
    </div>
  )
}
