//! Parses dates as recordings write them: `2026-03-30T13:02:48.736-07:00`.

use time::{Date, Month, UtcDateTime};

/// Parses a date as milliseconds since 1970 UTC. Returns none if the text is not a date.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let (date, clock) = text.split_once(['T', ' '])?;
    let (clock, offset_minutes) = zone(clock)?;
    let mut parts = date.splitn(3, '-');
    let mut number = || digits(parts.next()?);
    let (year, month, day) = (number()?, number()?, number()?);

    let (whole, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let mut parts = whole.splitn(3, ':');
    let mut number = || digits(parts.next()?);
    let (hour, minute, second) = (number()?, number()?, number().unwrap_or(0));

    if hour > 24 || minute > 59 || second > 60 {
        return None;
    }

    let thousandths: String = fraction.chars().chain("000".chars()).take(3).collect();
    let minutes = (days(year, month, day)? * 24 + hour) * 60 + minute - offset_minutes;
    Some((minutes * 60 + second) * 1_000 + digits(&thousandths)?)
}

fn digits(text: &str) -> Option<i64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

/// Splits off the time zone. Returns the clock, and the minutes by which its zone is ahead of UTC.
/// Without a zone it is UTC.
fn zone(clock: &str) -> Option<(&str, i64)> {
    if let Some(clock) = clock.strip_suffix(['Z', 'z']) {
        return Some((clock, 0));
    }
    let Some(sign) = clock.find(['+', '-']) else {
        return Some((clock, 0));
    };

    let (clock, zone) = clock.split_at(sign);
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let zone: String = zone.chars().filter(char::is_ascii_digit).collect();
    let (hours, minutes) = (
        zone.get(..2)?,
        zone.get(2..).filter(|rest| !rest.is_empty()),
    );
    Some((
        clock,
        sign * (digits(hours)? * 60 + digits(minutes.unwrap_or("0"))?),
    ))
}

/// Returns the days since 1970-01-01, or none for a date that no calendar has.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let month = Month::try_from(u8::try_from(month).ok()?).ok()?;
    let day = u8::try_from(day).ok()?;
    let date = Date::from_calendar_date(i32::try_from(year).ok()?, month, day).ok()?;
    Some((date - UtcDateTime::UNIX_EPOCH.date()).whole_days())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected values are from `date -u -d … +%s`.
    #[test]
    fn dates_are_parsed_with_their_time_zone() {
        let check = |text: &str, expected: Option<i64>| assert_eq!(parse(text), expected, "{text}");
        check("1970-01-01T00:00:00Z", Some(0));
        check("2026-01-01T09:00:00.000Z", Some(1_767_258_000_000));
        check("2026-03-30T13:02:48.736-07:00", Some(1_774_900_968_736));
        check("2026-03-30T20:02:48.736Z", Some(1_774_900_968_736));
        check("2024-02-29T23:59:59+0530", Some(1_709_231_399_000));
        check("2000-03-01T00:00:00.5", Some(951_868_800_500));
        check("2026-13-01T00:00:00Z", None);
        check("2026-02-29T00:00:00Z", None);
        check("yesterday", None);
        check("2026-01-01", None);
        check("2026-01-01Tnoon", None);
        check("", None);
    }
}
