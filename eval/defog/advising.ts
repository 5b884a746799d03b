import type { Agent } from '../../src/index.ts';
import { relate } from './relations.ts';

export function customize(agent: Agent): void {
  relate(agent, [
    ['area.course_id', 'course.course_id'],
    ['comment_instructor.instructor_id', 'instructor.instructor_id'],
    ['comment_instructor.student_id', 'student.student_id'],
    ['course_offering.course_id', 'course.course_id'],
    ['course_offering.semester', 'semester.semester_id', 'term'],
    ['course_prerequisite.pre_course_id', 'course.course_id', 'prerequisite', 'required_by'],
    ['course_prerequisite.course_id', 'course.course_id', 'course', 'prerequisites'],
    ['course_tags_count.course_id', 'course.course_id'],
    ['offering_instructor.offering_id', 'course_offering.offering_id'],
    ['offering_instructor.instructor_id', 'instructor.instructor_id'],
    ['program_course.program_id', 'program.program_id'],
    ['program_course.course_id', 'course.course_id'],
    ['program_requirement.program_id', 'program.program_id'],
    ['student.program_id', 'program.program_id'],
    ['student_record.student_id', 'student.student_id'],
    ['student_record.course_id', 'course.course_id'],
    ['student_record.semester', 'semester.semester_id', 'term'],
    ['student_record.offering_id', 'course_offering.offering_id'],
  ]);
}
